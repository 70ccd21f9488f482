"""Fuzzing guided by coverage: `python -m tests.fuzz [TARGET...] --seconds N`, or `make fuzz`.

Each target runs in a process of its own, from seeds that are written anew and from what earlier
runs have kept in `.fuzz/TARGET`. A finding is kept beside it, and fails the command.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from counterfoil_schemas.digest import digest_bytes
from tests.fuzz.seeds import SEEDS
from tests.fuzz.targets import TARGETS

FOLDER = Path(".fuzz")

SECONDS_AN_INPUT = 20
"""One input that takes longer is a finding."""

MAX_MEGABYTES = 2_048
"""A target that takes more is a finding."""


def main() -> int:
    """Run the targets one after the other; 1 if one of them found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each target; 0 for no end")
    parser.add_argument("--runs", type=int, default=-1, help="executions of each; -1 for no bound")
    parser.add_argument("--max-len", type=int, default=4_096, help="longest input, in bytes")
    options = parser.parse_args()
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        parser.error(f"no target is called {', '.join(sorted(unknown))}")
    arguments = [
        f"-max_total_time={options.seconds}",
        f"-runs={options.runs}",
        f"-max_len={options.max_len}",
        f"-timeout={SECONDS_AN_INPUT}",
        f"-rss_limit_mb={MAX_MEGABYTES}",
        "-print_final_stats=1",
    ]
    found = [name for name in options.targets or TARGETS if _fuzz(name, arguments) != 0]
    for name in found:
        print(f"{name}: a finding; its bytes are in {FOLDER}/", file=sys.stderr)  # noqa: T201
    return 1 if found else 0


def _fuzz(name: str, arguments: list[str]) -> int:
    corpus = FOLDER / name
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS[name]():
        (corpus / digest_bytes(seed).removeprefix("sha256:")[:32]).write_bytes(seed)
    command = [sys.executable, "-m", "tests.fuzz.engine", name, *arguments]
    prefix = f"-artifact_prefix={FOLDER}/{name}-"
    return subprocess.run([*command, prefix, str(corpus)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
