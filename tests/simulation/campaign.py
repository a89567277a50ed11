"""Many seeds of the engine in the simulator, or the search for mutations of it.

`python -m tests.simulation.campaign --seeds 10000`. The last line is JSON; the exit code is 1 if a tuple was
lost, duplicated or wrong. A failure prints one line that repeats it.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from itertools import count, islice

from tests.simulation.mutations import MUTATIONS
from tests.simulation.play import Verdict, play

SEEDS_AT_ONCE = 20
MUTATION_SEEDS = 1_000


def play_some(seeds: list[int], mutation: str = "") -> list[Verdict]:
    """Play seeds one after the other; with a mutation, up to the first that notices it."""
    logging.disable(logging.CRITICAL)
    found: list[Verdict] = []
    with MUTATIONS[mutation]() if mutation else nullcontext():
        for seed in seeds:
            found.append(play(seed))
            if mutation and not found[-1].is_good:
                break
    return found


def chunks(first: int, seeds: int) -> Iterator[list[int]]:
    """The seeds, some at a time."""
    numbers = iter(range(first, first + seeds))
    return iter(lambda: list(islice(numbers, SEEDS_AT_ONCE)), [])


def repeat_line(verdict: Verdict, mutation: str = "") -> str:
    """The line that repeats a failure."""
    with_mutation = f" --mutation {mutation}" if mutation else ""
    return f"repeat: {COMMAND} --first {verdict.seed} --seeds 1{with_mutation}"


COMMAND = "PYTHONHASHSEED=0 python -m tests.simulation.campaign"


def run(first: int, seeds: int, processes: int, mutation: str) -> int:
    """Play many seeds on several processes."""
    totals = dict.fromkeys(("crashes", "faults", "lost", "duplicated", "wrong"), 0)
    began, played, told = time.monotonic(), 0, count(1)
    with ProcessPoolExecutor(processes) as pool:
        for verdicts in pool.map(partial(play_some, mutation=mutation), chunks(first, seeds)):
            for verdict in verdicts:
                played += 1
                for name in totals:
                    totals[name] += getattr(verdict, name)
                if not verdict.is_good:
                    _say(f"seed {verdict.seed}: {verdict.story}\n{repeat_line(verdict, mutation)}")
            if next(told) % 10 == 0:
                _say(f"[{time.monotonic() - began:5.0f} s] {played:,} of {seeds:,} seeds, {totals}")
    _say(json.dumps({"seeds": played, **totals}))
    return 1 if totals["lost"] or totals["duplicated"] or totals["wrong"] else 0


def search(seeds: int, processes: int) -> int:
    """Look for the first seed that notices each mutation."""
    found: dict[str, int | None] = {}
    with ProcessPoolExecutor(processes) as pool:
        searches = {name: pool.submit(play_some, list(range(seeds)), name) for name in MUTATIONS}
        for name, searching in searches.items():
            last = searching.result()[-1]
            found[name] = None if last.is_good else last.seed + 1
            _say(f"{name}: {'not found' if last.is_good else f'found by seed {last.seed}'}")
    _say(
        json.dumps(
            {
                "mutations": len(found),
                "missed": [n for n, seed in found.items() if seed is None],
                "seeds": found,
            }
        )
    )
    return 1 if None in found.values() else 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--mutations", action="store_true", help="look for each mutation instead")
    parser.add_argument("--mutation", default="", choices=["", *MUTATIONS], help="play with a mutation")
    given = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets of texts is part of what a seed decides.
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.simulation.campaign", *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    if given.mutations:
        return search(min(given.seeds, MUTATION_SEEDS), given.processes)
    return run(given.first, given.seeds, given.processes, given.mutation)


if __name__ == "__main__":
    sys.exit(main())
