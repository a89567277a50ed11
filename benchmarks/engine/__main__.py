"""`python -m benchmarks.engine [--case a] [--tuples N] [--sweep]`: ratios of ours to Structured Streaming's.

Throughput, cases (a) to (d): the tuples of all input files per second, from the start of the query (ours:
from the first file's adoption) until the last result is committed to a Parquet output. Each side of each case
runs in a fresh process; its first pass warms up compilers, and the fastest of the timed passes counts. The
delay is that of (b) at 1,000 tuples per second (see `delay`), and that of keys that fall quiet (see `quiet`);
the floor is a small train's time from push to commit. Case (e) is the paper's 40-box network (see `forty`).
The last line is JSON.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import locks
from benchmarks.engine.cases import THROUGHPUT, Case
from benchmarks.engine.inputs import write_stream
from benchmarks.engine.quiet import Quiet
from benchmarks.engine.tuning import BEST, candidates
from benchmarks.engine.worker import LIGHT, OURS, THEIRS, Pass, in_process, passes
from benchmarks.saying import run
from rich.console import Console
from rich.table import Table

CHOICES = ("a", "b", "c", "d", "e", "delay", "quiet", "floor")
DELAY_WANTED, QUIET_WANTED, FLOOR_WANTED_MS = 0.25, 0.15, 100.0


@dataclass(frozen=True)
class Row:
    """A line of the table, and its part of the JSON."""

    what: str
    ours: str
    theirs: str
    ratio: float | None
    wanted: str
    how: str
    figures: dict[str, float]


def main() -> None:
    """Run the chosen cases, print a table and, last, a line of JSON."""
    arguments = _arguments()
    chosen = arguments.case or list(CHOICES)
    with tempfile.TemporaryDirectory(prefix="bench-engine-", dir=arguments.scratch) as scratch:
        locks.watch(Path(scratch, "locks"))
        rows = list(_rows(chosen, arguments, Path(scratch)))
        held_ms = locks.longest_ms(Path(scratch, "locks"))
    _print(rows)
    figures = {name: value for row in rows for name, value in row.figures.items()} | {"lock_ms_max": held_ms}
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__.split("\n")[0])
    parser.add_argument("--case", action="append", choices=CHOICES, help="only this one; may be repeated")
    parser.add_argument("--tuples", type=int, default=10_000_000, help="of a stream; slow cases take a part")
    parser.add_argument(
        "--passes", type=int, default=2, help="timed passes after the warm-up; the best counts"
    )
    parser.add_argument("--delay-seconds", type=float, default=45.0, help="how long the delay is measured")
    parser.add_argument("--quiet-passes", type=int, default=3, help="of each side of `quiet`, in turn")
    parser.add_argument("--sweep", action="store_true", help="try every tuning of Structured Streaming")
    parser.add_argument("--scratch", help="a folder for temporary files")
    return parser.parse_args()


def _rows(chosen: list[str], arguments: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    for case in THROUGHPUT:
        if case.letter in chosen:
            yield _throughput(case, arguments, scratch)
    if "delay" in chosen:
        yield _delay(arguments, scratch)
    if "quiet" in chosen:
        yield from _quiet(arguments, scratch)
    if "floor" in chosen:
        yield _floor(scratch)
    if "e" in chosen:
        yield _forty()


# --- the cases


def _throughput(case: Case, arguments: argparse.Namespace, scratch: Path) -> Row:
    tuples = int(arguments.tuples * case.share)
    _say(f"({case.letter}) {case.title}: {len(case.streams)} x {tuples:,} tuples")
    inputs = scratch / f"in-{tuples}"
    for seed, stream in enumerate(case.streams):
        if not (inputs / stream).exists():
            write_stream(inputs / stream, tuples, seed)
    tunings = candidates(case.name) if arguments.sweep else list(BEST[case.name])
    theirs = passes(THEIRS, case, inputs, scratch, tunings=tunings, timed=arguments.passes)
    ours = passes(OURS, case, inputs, scratch, tunings=[], timed=arguments.passes)
    _check_equal(case, ours, theirs)
    return _compared(case, tuples * len(case.streams), ours, theirs)


def _check_equal(case: Case, ours: list[Pass], theirs: list[Pass]) -> None:
    """Refuse to compare different results."""
    for made in (*ours, *theirs):
        for output, digest in made.digests.items():
            first = ours[0].digests[output]
            if not digest.agrees(first):
                raise SystemExit(f"{case.name}.{output}: {digest} by {made.how}, expected {first}")


def _compared(case: Case, tuples: int, ours: list[Pass], theirs: list[Pass]) -> Row:
    best, other = (min(made[1:], key=lambda one: one.seconds) for made in (ours, theirs))
    ratio = other.seconds / best.seconds
    cores = other.cpu_seconds / best.cpu_seconds
    return Row(
        f"({case.letter}) {case.title}",
        _speed(tuples, best, ours[0]),
        _speed(tuples, other, theirs[0]),
        ratio,
        f"{case.wanted:g}x",
        f"{other.how}; {cores:.1f}x of the CPU time",
        {case.ratio_name: ratio},
    )


def _speed(tuples: int, best: Pass, warm_up: Pass) -> str:
    return f"{tuples / best.seconds / 1e6:.2f} M/s (warm-up {tuples / warm_up.seconds / 1e6:.2f})"


def _delay(arguments: argparse.Namespace, scratch: Path) -> Row:
    _say(f"delay of (b) at 1,000 tuples/s, {arguments.delay_seconds:g} s on each side")
    job = {"case": "delay", "scratch": str(scratch), "seconds": arguments.delay_seconds}
    theirs, ours = (in_process({**job, "side": side}) for side in (THEIRS, OURS))
    texts = [f"{one['delay_ms']:.0f} ms (p95 {one['p95_ms']:.0f})" for one in (ours, theirs)]
    ratio = ours["delay_ms"] / theirs["delay_ms"]
    lags = f"since the window's end: {ours['lag_ms']:.0f} and {theirs['lag_ms']:.0f} ms"
    figures = {"delay_x": ratio, "delay_ms": ours["delay_ms"]}
    return Row("delay of (b), median", texts[0], texts[1], ratio, f"<= {DELAY_WANTED:g}x", lags, figures)


def _quiet(arguments: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    _say(f"delay of quiet keys, {arguments.delay_seconds:g} s on each side, {arguments.quiet_passes} times")
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
    _say("floor: 200 small trains through a keyed average")
    made = in_process({"case": "floor", "side": OURS, "scratch": str(scratch)})
    text = f"{made['floor_ms']:.0f} ms (p95 {made['p95_ms']:.0f})"
    figures = {"floor_ms": made["floor_ms"]}
    return Row("small train, push to commit", text, "", None, f"<= {FLOOR_WANTED_MS:g} ms", "", figures)


def _forty() -> Row:
    _say("(e) the 40-box network")
    made = importlib.import_module("benchmarks.engine.forty").measure()
    figures = {name: made[name] for name in ("boxes_per_s", "train_factor", "superbox_factor")}
    factors = f"trains {made['train_factor']:.2f}, superboxes {made['superbox_factor']:.2f}"
    text = f"{made['boxes_per_s']:,.0f} boxes/s"
    return Row("(e) 40 boxes", text, "3,200 boxes/s (paper)", None, "0.48, 0.43 (paper)", factors, figures)


# --- printing


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _print(rows: list[Row]) -> None:
    table = Table("case", "Australis", "Structured Streaming", "ratio", "wanted", "how")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}x"
        table.add_row(row.what, row.ours, row.theirs, ratio, row.wanted, row.how)
    Console(width=None if sys.stdout.isatty() else 160).print(table)


if __name__ == "__main__":
    run(main)
