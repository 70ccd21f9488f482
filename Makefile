# Needs Python 3.11 or newer and a way to install packages; makes its own environment in .venv.
#   make demo | test | check | bench | fuzz | format | lock | clean
PYTHON ?= python3
SECONDS ?= 60
RUNS ?= -1
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --quiet --require-hashes
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test check bench fuzz format lock clean lint types imports drift

demo: .venv/runtime.stamp ; $(BIN)/counterfoil demo
test: .venv/dev.stamp ; $(BIN)/python -m pytest
check: lint types imports drift
bench: .venv/dev.stamp ; $(BIN)/python -m benchmarks && $(BIN)/python -m benchmarks.layers
# SECONDS of each target, or RUNS; FUZZ="decode judge" for some targets only.
fuzz: .venv/fuzz.stamp ; $(BIN)/python -m tests.fuzz $(FUZZ) --seconds $(SECONDS) --runs $(RUNS)
format: .venv/dev.stamp ; $(BIN)/ruff check --fix --quiet && $(BIN)/ruff format
clean: ; rm -rf .venv .fuzz .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist

lint: .venv/dev.stamp ; $(BIN)/ruff check && $(BIN)/ruff format --check
types: .venv/dev.stamp ; $(BIN)/mypy && $(BIN)/pyright --pythonpath $(BIN)/python
imports: .venv/dev.stamp ; $(BIN)/lint-imports
drift: .venv/dev.stamp ; $(BIN)/python -m counterfoil_schemas.export --check && $(BIN)/python docs/generate.py --check

# Keeps the pinned versions that still fit; `make lock UPGRADE=--upgrade` takes the newest.
lock: | $(BIN)/uv
	$(COMPILE) $(UPGRADE) --extra all --group build --output-file requirements/all.txt
	$(COMPILE) $(UPGRADE) --extra all --group dev --constraint requirements/all.txt --output-file requirements/dev.txt
	$(COMPILE) $(UPGRADE) --group fuzz --constraint requirements/dev.txt --output-file requirements/fuzz.txt

# Not by way of the stamps: those check the project against the very pins that `lock` is to mend.
$(BIN)/uv:
	$(PYTHON) -m venv .venv
	$(INSTALL) -r requirements/dev.txt

.venv/runtime.stamp: requirements/all.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Counterfoil needs Python 3.11 or newer, but $(PYTHON) is %d.%d. Name a newer one: make PYTHON=python3.12 ..." % sys.version_info[:2])'
	$(PYTHON) -m venv .venv
	$(INSTALL) -r requirements/all.txt
	$(BIN)/python -m pip install --quiet --quiet --no-build-isolation --no-deps --editable .
	$(BIN)/python -m pip check
	@touch $@

.venv/dev.stamp: .venv/runtime.stamp requirements/dev.txt
	$(INSTALL) -r requirements/dev.txt
	@touch $@

.venv/fuzz.stamp: .venv/dev.stamp requirements/fuzz.txt
	$(INSTALL) -r requirements/fuzz.txt
	@touch $@
