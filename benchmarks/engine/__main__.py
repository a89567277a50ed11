"""`python -m benchmarks.engine [--case a] [--passes N] [--sweep]`: ours beside Structured Streaming.

Throughput: the clock and the cores' time (user and system, of all processes: JVM, Python and its workers)
from the moment when all files are there until the last result is committed to a Parquet output. On both sides
the query already runs and has taken a first small file. Each side of a case has a process of its own; passes
go in turn, the first two only warm up, and the figures are medians, with the least and the most. Of several
tunings of Structured Streaming the best counts. The delay is that of (b) at 1,000 tuples per second (see
`delay`), and that of keys that fall quiet (see `quiet`); the floor is a small train's time from push to
commit. Case (e) is the paper's 40-box network (see `forty`). The last line is JSON.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import locks
from benchmarks.engine.cases import THROUGHPUT, Case
from benchmarks.engine.inputs import write_stream
from benchmarks.engine.quiet import Quiet
from benchmarks.engine.tuning import BEST, EACH_FILE, candidates
from benchmarks.engine.worker import LIGHT, OURS, THEIRS, command, in_process
from benchmarks.saying import run, say
from benchmarks.turns import Passes, Ratio, Side, Spread, in_turn
from rich.console import Console
from rich.table import Table

OTHERS = ("e", "delay", "quiet", "floor")
CHOICES = (*dict.fromkeys(case.letter for case in THROUGHPUT), *(case.name for case in THROUGHPUT), *OTHERS)
DELAY_WANTED, QUIET_WANTED, FLOOR_WANTED_MS = 0.25, 0.15, 100.0
TUPLES = 10_000_000


@dataclass(frozen=True)
class Speed:
    """A case of throughput: what each side took for how many tuples."""

    case: Case
    tuples: int
    ours: Passes
    light: Passes
    theirs: list[Passes]

    @property
    def figures(self) -> dict[str, float]:
        spark, light = (Ratio.of(one, self.theirs) for one in (self.ours, self.light))
        name = self.case.name
        return {
            f"{name}_x": spark.clock.median,
            f"{name}_cpu_x": spark.cpu.median,
            f"{name}_cpu_x_least": spark.cpu.least,
            f"{name}_cpu_x_most": spark.cpu.most,
            f"{name}_light_x": light.clock.median,
            f"{name}_light_cpu_x": light.cpu.median,
            **self._with_commits_as_often(),
        }

    def _with_commits_as_often(self) -> dict[str, float]:
        """The same where theirs has a batch for each file, as ours has a train."""
        theirs = [one for one in self.theirs if one.how.startswith(f"{EACH_FILE} files ")]
        if not theirs:
            return {}
        return {f"{self.case.name}_each_file_cpu_x": Ratio.of(self.ours, theirs).cpu.median}


@dataclass(frozen=True)
class Row:
    """A line of the second table, and its part of the JSON."""

    what: str
    ours: str
    theirs: str
    ratio: float | None
    wanted: str
    how: str
    figures: dict[str, float]


def main() -> None:
    """Run the chosen cases, print tables and, last, a line of JSON."""
    arguments = _arguments()
    chosen = arguments.case or list(CHOICES)
    with tempfile.TemporaryDirectory(prefix="bench-engine-", dir=arguments.scratch) as scratch:
        locks.watch(Path(scratch, "locks"))
        speeds = list(_speeds(chosen, arguments, Path(scratch)))
        rows = list(_rows(chosen, arguments, Path(scratch)))
        held_ms = locks.longest_ms(Path(scratch, "locks"))
    _print_speeds(speeds)
    _print(rows)
    figures = {name: value for made in (*speeds, *rows) for name, value in made.figures.items()}
    print(json.dumps({name: round(value, 3) for name, value in {**figures, "lock_ms_max": held_ms}.items()}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__.split("\n")[0])
    parser.add_argument("--case", action="append", choices=CHOICES, help="only this one; may be repeated")
    parser.add_argument("--tuples", type=int, default=TUPLES, help="of a stream; slow cases take a part")
    parser.add_argument("--passes", type=int, default=5, help="timed passes of each side, in turn")
    parser.add_argument("--warm-ups", type=int, default=2, help="turns before them that are not counted")
    parser.add_argument("--delay-seconds", type=float, default=45.0, help="how long the delay is measured")
    parser.add_argument("--quiet-passes", type=int, default=3, help="of each side of `quiet`, in turn")
    parser.add_argument("--sweep", action="store_true", help="try every tuning of Structured Streaming")
    parser.add_argument("--scratch", help="a folder for temporary files")
    return parser.parse_args()


def _speeds(chosen: list[str], arguments: argparse.Namespace, scratch: Path) -> Iterator[Speed]:
    for case in THROUGHPUT:
        if {case.letter, case.name} & set(chosen):
            yield _throughput(case, arguments, scratch)


def _rows(chosen: list[str], arguments: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    if "delay" in chosen:
        yield from _delay(arguments, scratch)
    if "quiet" in chosen:
        yield from _quiet(arguments, scratch)
    if "floor" in chosen:
        yield _floor(scratch)
    if "e" in chosen:
        yield _forty()


# --- the cases


def _throughput(case: Case, arguments: argparse.Namespace, scratch: Path) -> Speed:
    tuples = int(arguments.tuples * case.share)
    say(f"({case.letter}) {case.title}: {len(case.streams)} x {tuples:,} tuples")
    inputs = scratch / f"in-{tuples}"
    for seed, stream in enumerate(case.streams):
        if not (inputs / stream).exists():
            write_stream(inputs / stream, tuples, seed)
    tunings = candidates(case.name) if arguments.sweep else BEST[case.name]
    sides = {side: Side(command(side, case, inputs), {"node": None}) for side in (OURS, LIGHT)}
    sides[THEIRS] = Side(command(THEIRS, case, inputs), {str(one): asdict(one) for one in tunings})
    found = in_turn(sides, scratch, arguments.passes, arguments.warm_ups)
    return Speed(case, tuples * len(case.streams), found[OURS][0], found[LIGHT][0], found[THEIRS])


def _delay(arguments: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    say(f"delay of (b) at 1,000 tuples/s, {arguments.delay_seconds:g} s on each side")
    job = {"case": "delay", "scratch": str(scratch), "seconds": arguments.delay_seconds}
    theirs = in_process({**job, "side": THEIRS})
    for side, what in (("progress", "delay of (b), by progress"), ("by_key", "delay of (b), by key")):
        ours = in_process({**job, "side": side})
        texts = [f"{one['delay_ms']:.0f} ms (p95 {one['p95_ms']:.0f})" for one in (ours, theirs)]
        ratio = ours["delay_ms"] / theirs["delay_ms"]
        prefix = "delay" if side == "progress" else "delay_by_key"
        figures = {f"{prefix}_x": ratio, f"{prefix}_ms": ours["delay_ms"]}
        wanted = f"<= {DELAY_WANTED:g}x" if side == "progress" else ""
        yield Row(what, texts[0], texts[1], ratio, wanted, "since the window's end", figures)


def _quiet(arguments: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    say(f"delay of quiet keys, {arguments.delay_seconds:g} s on each side, {arguments.quiet_passes} times")
    made: dict[str, list[Quiet]] = {THEIRS: [], OURS: [], LIGHT: []}
    for number in range(arguments.quiet_passes):
        for side, found in made.items():
            job = {"case": "quiet", "side": side, "seconds": arguments.delay_seconds}
            found.append(Quiet.from_json(in_process({**job, "scratch": str(scratch / f"pass-{number}")})))
    _check_equal_quiet(made)
    base = Quiet.joined(made[THEIRS])
    yield _quiet_row("quiet keys, delay since the end", "", Quiet.joined(made[OURS]), base)
    yield _quiet_row("quiet keys, light runner", "light_", Quiet.joined(made[LIGHT]), base)


def _check_equal_quiet(made: dict[str, list[Quiet]]) -> None:
    """Refuse to compare different results."""
    first = made[OURS][0].digest
    for side, found in made.items():
        for each in found:
            if not each.digest.agrees(first):
                raise SystemExit(f"quiet keys: {each.digest} by {side}, expected {first}")


def _quiet_row(what: str, prefix: str, ours: Quiet, theirs: Quiet) -> Row:
    ratio = ours.median_ms / theirs.median_ms
    results = f"{len(ours.delays_ms):,} results, equal"
    how = f"{results}; CPU seconds in a second: {ours.cpu_s:.2f} and {theirs.cpu_s:.2f}"
    figures = {
        f"quiet_keys_{prefix}delay_ms": ours.median_ms,
        f"quiet_keys_{prefix}p95_ms": ours.p95_ms,
        f"quiet_keys_{prefix}cpu": ours.cpu_s,
        f"quiet_keys_{prefix}ratio": ratio,
        "quiet_keys_baseline_delay_ms": theirs.median_ms,
        "quiet_keys_baseline_p95_ms": theirs.p95_ms,
        "quiet_keys_baseline_cpu": theirs.cpu_s,
    }
    return Row(what, str(ours), str(theirs), ratio, f"<= {QUIET_WANTED:g}x", how, figures)


def _floor(scratch: Path) -> Row:
    say("floor: 200 small trains through a keyed average")
    made = in_process({"case": "floor", "side": OURS, "scratch": str(scratch)})
    text = f"{made['floor_ms']:.0f} ms (p95 {made['p95_ms']:.0f})"
    figures = {"floor_ms": made["floor_ms"]}
    return Row("small train, push to commit", text, "", None, f"<= {FLOOR_WANTED_MS:g} ms", "", figures)


def _forty() -> Row:
    say("(e) the 40-box network")
    made = importlib.import_module("benchmarks.engine.forty").measure()
    figures = {name: made[name] for name in ("boxes_per_s", "train_factor", "superbox_factor")}
    factors = f"trains {made['train_factor']:.2f}, superboxes {made['superbox_factor']:.2f}"
    text = f"{made['boxes_per_s']:,.0f} boxes/s"
    return Row("(e) 40 boxes", text, "3,200 boxes/s (paper)", None, "0.48, 0.43 (paper)", factors, figures)


# --- printing


def _print_speeds(speeds: list[Speed]) -> None:
    """What each side took, and the ratios: medians, the least and the most."""
    if not speeds:
        return
    table = Table("case", "side", "M tuples/s", "cores, s", "clock", "cores", "wanted", title="throughput")
    for speed in speeds:
        title, wanted = f"({speed.case.letter}) {speed.case.title}", speed.case.wanted
        for name, side in (("Australis, Spark", speed.ours), ("Australis, light", speed.light)):
            ratio = Ratio.of(side, speed.theirs)
            target = "" if wanted is None else f"{wanted:g}x"
            texts = (f"{ratio.clock.text(1)}x", f"{ratio.cpu.text(1)}x")
            table.add_row(title, name, _rate(speed.tuples, side), side.cpu.text(), *texts, target)
        for side in speed.theirs:
            table.add_row("", side.how, _rate(speed.tuples, side), side.cpu.text(), "", "", "")
    Console(width=None if sys.stdout.isatty() else 180).print(table)


def _rate(tuples: int, side: Passes) -> str:
    return Spread.of([tuples / seconds / 1e6 for seconds in side.clock_s]).text()


def _print(rows: list[Row]) -> None:
    if not rows:
        return
    table = Table("case", "Australis", "Structured Streaming", "ratio", "wanted", "how")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}x"
        table.add_row(row.what, row.ours, row.theirs, ratio, row.wanted, row.how)
    Console(width=None if sys.stdout.isatty() else 160).print(table)


if __name__ == "__main__":
    run(main)
