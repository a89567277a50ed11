"""All experiments of the papers, one by one: `python -m benchmarks.experiments [NAME ...]`.

Each is a command that prints the paper's numbers and ours; some write pictures into docs/pictures.
"""

from __future__ import annotations

import sys
import time

from benchmarks.saying import run

from australis.app.cli import main

LARGE = ("simulate", "market", "--prices", "fixed", "--contracts", "10", "--runs", "1", "--nodes")
"""Beyond the paper: a market of many participants."""
WHOLE = ("--full", "--progress", "--plot", "docs/pictures")
EXPERIMENTS: dict[str, tuple[str, ...]] = {
    "eddies": ("simulate", "eddies", *WHOLE),
    "market": ("simulate", "market", *WHOLE),
    "market-10000": (*LARGE, "10000"),
    "market-100000": (*LARGE, "100000"),
    "hotspots": ("simulate", "hotspots", *WHOLE),
    "placement": ("simulate", "placement", *WHOLE),
    "recovery": ("simulate", "recovery", *WHOLE),
}
"""The arguments of `australis`, by the names of experiments."""


def run_all(names: list[str]) -> None:
    """Run some experiments, or all."""
    unknown = set(names) - set(EXPERIMENTS)
    if unknown:
        raise SystemExit(f"no experiment {', '.join(sorted(unknown))}; there are {', '.join(EXPERIMENTS)}")
    for name in names or EXPERIMENTS:
        print(f"\n=== {name}: australis {' '.join(EXPERIMENTS[name])}\n", flush=True)
        begun = time.monotonic()
        if code := main(list(EXPERIMENTS[name]), standalone_mode=False):
            raise SystemExit(code)
        print(f"\n{name} took {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    run(lambda: run_all(sys.argv[1:]))
