"""Run the parts, each of which returns figures by name, and print them; last, all in a line of JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping

from benchmarks.saying import run
from benchmarks.scale import (
    attaching,
    choosing,
    forgetting,
    giga,
    joins,
    planning,
    pushing,
    rocksdb,
    state,
    tables,
    tasks,
)

Figures = dict[str, float]
PARTS: Mapping[str, Callable[..., Figures]] = {
    "attaching": attaching.measure,
    "choosing": choosing.measure,
    "forgetting": forgetting.measure,
    "giga": giga.measure,
    "joins": joins.measure,
    "planning": planning.measure,
    "pushing": pushing.measure,
    "rocksdb": rocksdb.measure,
    "state": state.measure,
    "tables": tables.measure,
    "tasks": tasks.measure,
}
"""To add a part: a module with a function that measures, perhaps of a size, and a line here."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description="What grows, and how.")
    told = f"some of {', '.join(PARTS)}, or forgetting=20000000 for a size; all if none"
    parser.add_argument("parts", nargs="*", metavar="PART", help=told)
    sizes = dict(part.partition("=")[::2] for part in parser.parse_args().parts or PARTS)
    if unknown := [part for part in sizes if part not in PARTS]:
        parser.error(f"unknown parts {', '.join(unknown)}; there are {', '.join(PARTS)}")
    figures: Figures = {}
    for part, size in sizes.items():
        found = PARTS[part](int(size)) if size else PARTS[part]()
        figures |= found
        print(f"{part}: {', '.join(f'{name} {value:,.2f}' for name, value in found.items())}", flush=True)
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    run(main)
