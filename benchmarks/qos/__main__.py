"""`python -m benchmarks.qos [--part loads] [--quick]`: the benefit of quality of service, in figures.

The parts are utility over offered load, a burst with and without shedding, semantic against random shedding,
windows over a part of their tuples, and the opening of a stock market. The capacity of each side is measured
before each run, with a backlog. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from benchmarks.qos import approximation, burst, loads, semantic, stocks
from benchmarks.qos.workshop import OURS, Workshop, say
from benchmarks.saying import run
from rich.console import Console
from rich.table import Table

PICTURES = Path("docs/pictures")
RUNS = 3
Figures = dict[str, float | None]


class Report:
    """The results: tables are printed at the end, pictures go to a folder, figures to the last line."""

    def __init__(self, pictures: Path | None) -> None:
        self._pictures = pictures
        self.tables: list[Table] = []
        self.figures: Figures = {}

    def draw(self, name: str, picture: str) -> None:
        if self._pictures is not None:
            self._pictures.mkdir(parents=True, exist_ok=True)
            (self._pictures / f"{name}.svg").write_text(picture)


def main() -> None:
    """Run the chosen parts, print tables and, last, a line of JSON."""
    arguments = _arguments()
    report = Report(arguments.pictures or (None if arguments.quick else PICTURES))
    with (
        tempfile.TemporaryDirectory(prefix="bench-qos-", dir=arguments.scratch) as scratch,
        ExitStack() as stack,
    ):
        shop = Workshop(Path(scratch), arguments.quick, stack)
        shop.loads = tuple(load / 100 for load in arguments.load or ())
        shop.runs = arguments.runs or (1 if arguments.quick else RUNS)
        for part in arguments.part or PARTS:
            PARTS[part](shop, report)
    _print(report.tables)
    print(json.dumps({name: None if v is None else round(v, 3) for name, v in report.figures.items()}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.qos", description=__doc__.split("\n")[0])
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be repeated")
    parser.add_argument(
        "--load", action="append", type=float, help="only this load, in %% of capacity; may repeat"
    )
    parser.add_argument("--runs", type=int, help=f"how often each load is run; {RUNS}, or 1 if quick")
    parser.add_argument("--quick", action="store_true", help="fewer loads and shorter runs, and no pictures")
    parser.add_argument("--pictures", type=Path, help=f"where pictures go; {PICTURES} unless quick")
    parser.add_argument("--scratch", help="a folder for temporary files")
    return parser.parse_args()


# --- the parts


def _loads(shop: Workshop, report: Report) -> None:
    points = loads.measure(shop)
    report.tables += loads.tables(points)
    report.draw("qos-loads", loads.picture(points))
    report.figures |= {f"utility_x_{load}": loads.ratio(points, load / 100) for load in (150, 200)}
    report.figures |= {f"bound_{load}": loads.of_bound(points, load / 100) for load in (150, 200, 300)}
    report.figures |= {f"bound_cpu_{load}": loads.of_given(points, load / 100) for load in (150, 200, 300)}
    report.figures |= {f"jain_{load}": loads.fairness(points, load / 100) for load in (150, 200, 300)}


def _burst(shop: Workshop, report: Report) -> None:
    shop.capacity(OURS)
    say("burst")
    found = burst.measure(shop)
    report.tables.append(burst.table(found))
    report.draw("qos-burst", burst.picture(found))
    report.figures["burst_recovery_s"] = found[burst.WITH].recovery_s


def _semantic(shop: Workshop, report: Report) -> None:
    say("semantic against random shedding")
    found = shop.do(OURS, "semantic")
    report.tables.append(semantic.table(found))
    report.figures["semantic_x"] = semantic.ratio(found)


def _approximation(shop: Workshop, report: Report) -> None:
    say("windows over a part of their tuples")
    report.tables.append(approximation.table(shop.do(OURS, "approximation")))


def _stocks(shop: Workshop, report: Report) -> None:
    data = stocks.folder()
    if data is None:
        say("the opening of a stock market is left out: AUSTRALIS_DATA names no folder with `stocks` in it")
        return
    say("the opening of a stock market")
    seconds = stocks.QUICK_SECONDS if shop.quick else stocks.SECONDS
    told = shop.do(OURS, "stocks", data=str(data), seconds=seconds)
    report.tables.append(stocks.table(told))
    report.draw("qos-stocks", stocks.picture(told))


PARTS: Mapping[str, Callable[[Workshop, Report], None]] = {
    "loads": _loads,
    "burst": _burst,
    "semantic": _semantic,
    "approximation": _approximation,
    "stocks": _stocks,
}


def _print(tables: list[Table]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 160)
    for table in tables:
        console.print(table)


if __name__ == "__main__":
    run(main)
