"""`python -m benchmarks.linear_road [--expressways 1 2 4]`: how many expressways a node sustains.

A number of expressways is sustained if 99 of 100 responses, and the last one too, come within 5 seconds in
the last minutes of the three hours, when each expressway sends 1,700 reports a second, and all are right. The
numbers are tried in turn until one is not sustained. The traffic before (--past) is pushed as fast as it
goes. Every notification and answer, those of the past included, is compared with SQL over the same traffic.
The last line is JSON: the most expressways that were sustained, with their response time and what was wrong.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.linear_road.drive import LIMIT_S, OUTPUTS, Driven, Job, Minutes
from benchmarks.linear_road.expected import Expected
from benchmarks.linear_road.traffic import DURATION_S, REPORTS_PER_S, SCHEMA, Shape, write
from benchmarks.saying import run, say


def main() -> None:
    """Try the numbers in turn; print a line for each, and last one of JSON."""
    given = _arguments()
    best: dict[str, Any] = {"expressways": 0, "p99_s": None, "wrong": 0}
    with tempfile.TemporaryDirectory(prefix="linear-road-", dir=given.scratch) as scratch:
        for expressways in given.expressways:
            folder = Path(scratch) / f"{expressways}"
            driven, wrong = _trial(folder, expressways, given)
            shutil.rmtree(folder)
            _print(expressways, driven, wrong)
            if wrong:
                best["wrong"] = wrong
                break
            if driven.max_all_s > LIMIT_S:
                break
            best |= {"expressways": expressways, "p99_s": round(driven.p99_all_s, 3)}
    print(json.dumps(best if given.stretch == 1 else {**best, "stretch": given.stretch}))
    sys.exit(1 if best["wrong"] else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.linear_road", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--expressways", type=int, nargs="+", default=[10, 20, 40, 80, 160], help="what to try, in turn"
    )
    parser.add_argument("--past", type=float, default=7, help="minutes before the live ones (7); 177 are all")
    parser.add_argument("--live", type=float, default=3, help="live minutes, the last of the three hours (3)")
    parser.add_argument(
        "--rate",
        type=float,
        default=REPORTS_PER_S,
        help="reports a second of an expressway at the end (1700)",
    )
    parser.add_argument("--push-every", type=int, default=200, help="milliseconds between two pushes (200)")
    parser.add_argument(
        "--stretch", type=float, default=1.0, help="seconds that a second of the road takes (1); no rating"
    )
    parser.add_argument("--runner", default="light")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--settings", type=json.loads, default={}, help="settings of the node, as JSON")
    parser.add_argument("--scratch", help="a folder for temporary files")
    return parser.parse_args()


def _trial(folder: Path, expressways: int, given: argparse.Namespace) -> tuple[Driven, int]:
    """Generate, run in a process of its own, compare."""
    folder.mkdir(parents=True)
    began, minutes = time.monotonic(), given.past + given.live
    shape = Shape(expressways=expressways, seed=given.seed, reports_per_s=given.rate)
    count, _ = write(folder, shape, DURATION_S - round(minutes * 60))
    took_s = time.monotonic() - began
    say(f"{expressways} expressways: {count:,} tuples of {minutes:g} minutes, generated in {took_s:.0f} s")
    job = Job(
        str(folder), expressways, given.live, given.runner, given.push_every, given.stretch, given.settings
    )
    driven = _in_process(job)
    shutil.rmtree(folder / "root")
    began = time.monotonic()
    wrong = compare(folder)
    say(f"  wrong: {wrong}; compared in {time.monotonic() - began:.0f} s")
    return driven, sum(wrong.values())


def _in_process(job: Job) -> Driven:
    command = [sys.executable, "-m", "benchmarks.linear_road.drive", json.dumps(asdict(job))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the run ended with {done.returncode}: see above")
    return Driven(**json.loads(done.stdout.splitlines()[-1]))


def compare(folder: Path) -> dict[str, int]:
    """What differs between what a run has left in a folder and what should be there."""
    rounds = Minutes.of(folder / "traffic.arrow", 0).rounds()
    traffic = pa.RecordBatchReader.from_batches(SCHEMA, rounds)
    expected = Expected(traffic, pq.read_table(folder / "history.parquet"), folder)
    return expected.wrong({name: pq.read_table(folder / f"{name}.parquet") for name in OUTPUTS})


def _print(expressways: int, driven: Driven, wrong: int) -> None:
    shown = ", ".join(
        f"{name} {driven.p50_s[name]:.2f} / {driven.p99_s[name]:.2f} / {driven.max_s[name]:.2f}"
        for name in OUTPUTS
    )
    print(f"{expressways} expressways, p50 / p99 / max in s: {shown}")
    print(
        f"  {driven.responses:,} responses, {driven.over_limit} over {LIMIT_S:g} s, {wrong} wrong, "
        f"{driven.late_tuples} late; in a second {driven.cpu_s_per_s:.2f} s of CPU and "
        f"{driven.waited_s_per_s:.2f} s waiting for it, {driven.memory_mb:,.0f} MB; "
        f"{driven.tuples - driven.live_tuples:,} tuples before in {driven.warm_up_s:.0f} s, "
        f"{driven.past_cpu_us:.2f} us of CPU each",
        flush=True,
    )


if __name__ == "__main__":
    run(main)
