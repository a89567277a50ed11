"""Run the parts, each of which returns figures by name, and print them; last, all in a line of JSON."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Mapping

from benchmarks.saying import run

PARTS: Mapping[str, str] = {
    "link": "benchmarks.cluster.link",
    "weights": "benchmarks.cluster.weights",
    "moves": "benchmarks.cluster.moves",
    "split": "benchmarks.cluster.split",
    "names": "benchmarks.cluster.names",
    "shedding": "benchmarks.cluster.shedding",
    "grants": "benchmarks.cluster.grants",
}
"""To add a part: a module with a function `measure`, perhaps of a size, and a line here."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description="Many nodes, measured.")
    told = f"some of {', '.join(PARTS)}, or link=20000000 for a size; all if none"
    parser.add_argument("parts", nargs="*", metavar="PART", help=told)
    sizes = dict(part.partition("=")[::2] for part in parser.parse_args().parts or PARTS)
    if unknown := [part for part in sizes if part not in PARTS]:
        parser.error(f"unknown parts {', '.join(unknown)}; there are {', '.join(PARTS)}")
    figures: dict[str, float] = {}
    for part, size in sizes.items():
        measure = importlib.import_module(PARTS[part]).measure
        found = measure(int(size)) if size else measure()
        figures |= found
        print(f"{part}: {', '.join(f'{name} {value:,.2f}' for name, value in found.items())}", flush=True)
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    run(main)
