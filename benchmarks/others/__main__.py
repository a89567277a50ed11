"""`python -m benchmarks.others [--engine flink] [--case tumbling] [--passes N]`: ours beside other engines.

The clock and the cores' time (user and system, of all processes: JVM, Python and workers) from the moment
when the tuples are there until the last result is committed to Parquet files; all engines are warm, on the
same cores, and take passes in turn (`benchmarks.turns`). Ratios are to our light runner, which needs no
cluster, as these engines need none here; those to our Spark runner have `spark` in their names. Of several
ways of an engine the best counts. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine.cases import case_named
from benchmarks.engine.inputs import write_stream
from benchmarks.engine.worker import LIGHT, OURS, command
from benchmarks.others.cases import CASES, Case
from benchmarks.others.inputs import write_partitions
from benchmarks.saying import run, say
from benchmarks.turns import Passes, Ratio, Side, Spread, in_turn, once
from rich.console import Console
from rich.table import Table

from australis.engine.spark.java import find_java

ROOT = Path(__file__).resolve().parents[2]
WANTED = 5.0


@dataclass(frozen=True)
class Engine:
    """Another engine: its cases, the ways in which it runs them, and the share of the tuples that it gets."""

    name: str
    title: str
    cases: Mapping[str, Sequence[str]]
    share: float

    @property
    def python(self) -> Path:
        return ROOT / f".venv-{self.name}" / "bin" / "python"


STORES = ("hashmap", "rocksdb")
FLINK = Engine(
    "flink", "Flink", {"tumbling": STORES, "sliding": STORES, "filter": ("hashmap",), "join": STORES}, 1.0
)
BYTEWAX = Engine(
    "bytewax", "Bytewax", {"tumbling": ("partials", "items"), "sliding": ("partials", "items")}, 0.3
)
ENGINES = {"pyflink": FLINK, "bytewax": BYTEWAX}


@dataclass(frozen=True)
class Compared:
    """A case of an engine, and what each side took."""

    engine: Engine
    case: Case
    tuples: int
    spark: Passes
    light: Passes
    theirs: list[Passes]

    def figures(self, prefix: str) -> dict[str, float]:
        spark, light = (Ratio.of(one, self.theirs) for one in (self.spark, self.light))
        name = f"{prefix}_{self.case.name}"
        each = {f"{name}_{one.how}_cpu_x": Ratio.of(self.light, [one]).cpu.median for one in self.theirs}
        return {
            f"{name}_cpu_x": light.cpu.median,
            f"{name}_cpu_x_least": light.cpu.least,
            f"{name}_cpu_x_most": light.cpu.most,
            f"{name}_x": light.clock.median,
            f"{name}_spark_cpu_x": spark.cpu.median,
            f"{name}_spark_x": spark.clock.median,
            **(each if len(each) > 1 else {}),
        }


def main() -> None:
    """Run the chosen cases of the chosen engines, print a table and, last, a line of JSON."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="bench-others-", dir=arguments.scratch) as scratch:
        found = list(_compared(arguments, Path(scratch)))
    _print([compared for _, compared in found])
    figures = {name: value for prefix, each in found for name, value in each.figures(prefix).items()}
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.others", description=__doc__.split("\n")[0])
    names = [case.name for case in CASES]
    parser.add_argument("--engine", action="append", choices=ENGINES, help="only this one; may be repeated")
    parser.add_argument("--case", action="append", choices=names, help="only this one; may be repeated")
    parser.add_argument("--tuples", type=int, default=10_000_000, help="of a stream; some take a part")
    parser.add_argument("--passes", type=int, default=5, help="timed passes of each side, in turn")
    parser.add_argument("--warm-ups", type=int, default=2, help="turns before them that are not counted")
    parser.add_argument("--scratch", help="a folder for temporary files")
    return parser.parse_args()


def _compared(arguments: argparse.Namespace, scratch: Path) -> Iterator[tuple[str, Compared]]:
    for prefix in arguments.engine or ENGINES:
        engine = ENGINES[prefix]
        for case in CASES:
            if case.name in engine.cases and case.name in (arguments.case or engine.cases):
                yield prefix, _measured(engine, case, arguments, scratch)


def _measured(engine: Engine, case: Case, arguments: argparse.Namespace, scratch: Path) -> Compared:
    tuples = int(arguments.tuples * case.share * engine.share)
    say(f"{engine.title}, {case.title}: {len(case.streams)} x {tuples:,} tuples")
    inputs = scratch / f"in-{tuples}"
    for seed, stream in enumerate(case.streams):
        if not (inputs / stream).exists():
            write_stream(inputs / stream, tuples, seed)
            write_partitions(inputs / stream, inputs / "partitions" / stream)
    ours = case_named(case.ours)
    sides = {side: Side(command(side, ours, inputs), {"node": None}) for side in (LIGHT, OURS)}
    expected = once(LIGHT, sides[LIGHT], scratch)
    sides[engine.name] = _side(engine, case, inputs, expected["out"].rows)
    found = in_turn(sides, scratch, arguments.passes, arguments.warm_ups)
    total = tuples * len(case.streams)
    return Compared(engine, case, total, found[OURS][0], found[LIGHT][0], found[engine.name])


def _side(engine: Engine, case: Case, inputs: Path, rows: int) -> Side:
    """A process of the engine, in its own environment."""
    folder = inputs / "partitions" if engine is FLINK else inputs
    job = {
        "case": case.name,
        "inputs": {stream: str(folder / stream) for stream in case.streams},
        "rows": rows,
        "jars": str(ROOT / "build" / "flink-parquet"),
    }
    start = [str(engine.python), "-m", f"benchmarks.others.{engine.name}_side", json.dumps(job)]
    ways = {way: way for way in engine.cases[case.name]}
    return Side(start, ways, {"JAVA_HOME": str(find_java())} if engine is FLINK else None)


def _print(found: list[Compared]) -> None:
    """What each side took, and the ratios to it: medians, the least and the most."""
    table = Table("case", "side", "M tuples/s", "cores, s", "clock", "cores", title=f"wanted: {WANTED:g}x")
    for each in found:
        title = f"{each.case.title}, {each.tuples:,}"
        for name, side in (("Australis, light", each.light), ("Australis, Spark", each.spark)):
            table.add_row(title, name, _rate(each.tuples, side), side.cpu.text(), "", "")
            title = ""
        for side in each.theirs:
            ratio = Ratio.of(each.light, [side])
            texts = (f"{ratio.clock.text(1)}x", f"{ratio.cpu.text(1)}x")
            name = f"{each.engine.title}, {side.how}"
            table.add_row("", name, _rate(each.tuples, side), side.cpu.text(), *texts)
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _rate(tuples: int, side: Passes) -> str:
    return Spread.of([tuples / seconds / 1e6 for seconds in side.clock_s]).text()


if __name__ == "__main__":
    run(main)
