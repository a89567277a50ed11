"""Run the parts, print tables and, last, a line of JSON."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from statistics import median

from benchmarks import locks
from benchmarks.live import attaching, beside, expiry, optimising
from benchmarks.saying import run
from rich.console import Console

PARTS = ("attach", "optimiser", "expiry", "beside")
HISTORY, ROUNDS = 10_000_000, 100


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live", description="Live networks.")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be repeated")
    parser.add_argument("--quick", action="store_true", help="less history, fewer rounds")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-live-locks-") as folder:
        locks.watch(folder)
        figures = _measure(arguments.part or PARTS, arguments.quick)
        figures["lock_ms_max"] = locks.longest_ms(folder)
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


def _measure(parts: Sequence[str], quick: bool) -> dict[str, float]:
    figures: dict[str, float] = {}
    for part in parts:
        match part:
            case "attach":
                figures |= _attach(quick)
            case "optimiser":
                figures |= optimising.measure(quick, say)
            case "expiry":
                figures |= expiry.measure(quick, say)
            case "beside":
                figures |= beside.measure(quick, say)
    return figures


def _attach(quick: bool) -> dict[str, float]:
    found = attaching.measure(HISTORY // 20 if quick else HISTORY, ROUNDS // 10 if quick else ROUNDS)
    Console(width=None if sys.stdout.isatty() else 140).print(attaching.table(found))
    say(f"delay of the running queries, p95 in ms: {found.delays_ms}")
    return {
        "attach_lost": found.lost,
        "attach_duplicated": found.duplicated,
        "attach_rounds": found.rounds,
        "attach_equal": all(found.equal.values()),
        "attach_ms": median(found.attach_ms),
        "detach_ms": median(found.detach_ms),
        "lookup_s": median(found.lookups_s),
        "lookup_worst_s": max(found.lookups_s),
        "scan_s": found.scan_s,
    }


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run(main)
