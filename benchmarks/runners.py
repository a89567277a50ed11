"""The light runner against Spark, in turns: small trains, a million tuples, and the first result.

Both nodes are open at the same time and warm, and take turns of several trains each, so that other programs
on the machine affect both alike. CPU seconds are those of all processes. The first result is that of a fresh
process, from its start to the first tuple read; bytecode and numba's cache are warm, except for one cold run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.engine.inputs import tuples_of
from benchmarks.engine.networks import network_of
from benchmarks.engine.processes import cpu_seconds
from benchmarks.saying import run, say, steps

from australis import Node

RUNNERS = {"spark": "spark", "light": "light[2]"}
SMALL, LARGE = 10, 1_000_000
WARM_UP, TURN = 30, 10
"""Warm-up trains, and how many trains each runner takes in a turn."""
MEMORY = Path("/dev/shm")
PROGRAM = Path(__file__).with_name("first_result.py")


@dataclass
class Measured:
    """What the trains of a runner took."""

    seconds: list[float] = field(default_factory=list)
    cpu_seconds: float = 0.0

    @property
    def ms(self) -> float:
        return median(self.seconds) * 1e3

    @property
    def cpu_ms(self) -> float:
        return self.cpu_seconds / len(self.seconds) * 1e3


class Stream:
    """The tuples of one node, train by train."""

    def __init__(self, node: Node) -> None:
        self._node, self._sent = node, 0

    def train(self, tuples: int) -> float:
        """Push a number of tuples; returns the seconds until they are committed."""
        batch = tuples_of(self._sent, self._sent + tuples, seed=0)
        self._sent += tuples
        began = time.perf_counter()
        self._node.push("events", batch)
        self._node.drain()
        return time.perf_counter() - began


@contextmanager
def nodes(scratch: Path) -> Iterator[dict[str, Stream]]:
    """A node on each runner."""
    with ExitStack() as stack:
        made = {
            name: stack.enter_context(Node(scratch / name, runner=runner)) for name, runner in RUNNERS.items()
        }
        for node in made.values():
            node.deploy(network_of("keyed_average"))
        yield {name: Stream(node) for name, node in made.items()}


def in_turns(streams: Mapping[str, Stream], tuples: int, trains: int, turn: int) -> dict[str, Measured]:
    """Trains of both runners, in turns."""
    found = {name: Measured() for name in streams}
    for _ in range(0, trains, turn):
        for name, stream in streams.items():
            before = cpu_seconds()
            found[name].seconds += [stream.train(tuples) for _ in range(turn)]
            found[name].cpu_seconds += cpu_seconds() - before
    return found


def first_result_s(runner: str, environment: Mapping[str, str]) -> float:
    """Seconds from the start of a process to its first result."""
    began = time.time()
    done = subprocess.run(
        [sys.executable, str(PROGRAM), RUNNERS[runner]],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
        env=dict(environment),
    )
    return float(done.stdout) - began


def first_results(scratch: Path, starts: int) -> dict[str, object]:
    """The first results of both, in turn; for the light runner also with numba compiling."""
    warm = {**os.environ, "PYTHONPYCACHEPREFIX": str(scratch / "bytecode")}
    warm.pop("PYTHONDONTWRITEBYTECODE", None)
    for runner in RUNNERS:
        first_result_s(runner, warm)
    seconds: dict[str, list[float]] = {runner: [] for runner in RUNNERS}
    for number in steps("Starting processes", range(starts)):
        seconds["light"].append(first_result_s("light", warm))
        if number % 2 == 0:
            seconds["spark"].append(first_result_s("spark", warm))
    cold = first_result_s("light", {**warm, "NUMBA_CACHE_DIR": str(scratch / "numba")})
    return {
        "light_first_result_s": round(median(seconds["light"]), 2),
        "light_first_result_least_s": round(min(seconds["light"]), 2),
        "light_first_result_cold_s": round(cold, 2),
        "spark_first_result_s": round(median(seconds["spark"]), 2),
    }


def small_trains(scratch: Path, count: int, place: str) -> dict[str, Measured]:
    """Trains of a few tuples, which show the fixed cost of a train."""
    say(f"Measuring trains of {SMALL} tuples, root {place} ...")
    with nodes(scratch) as streams:
        in_turns(streams, SMALL, WARM_UP, TURN)
        found = in_turns(streams, SMALL, count, TURN)
    return _said(f"train of {SMALL} tuples, root {place}", found, lambda m: f"{m.ms:7.1f} ms")


def large_trains(scratch: Path) -> dict[str, Measured]:
    """Trains of a million tuples, in two tasks."""
    say(f"Measuring trains of {LARGE:,} tuples ...")
    with nodes(scratch) as streams:
        in_turns(streams, LARGE, 2, 1)
        found = in_turns(streams, LARGE, 7, 1)
    return _said(f"train of {LARGE:,} tuples", found, lambda m: f"{LARGE / m.ms / 1e3:7.2f} M tuples/s")


def floors(found: Mapping[str, Measured], place: str = "") -> dict[str, object]:
    """The cost of a small train on both, in wall time and CPU time."""
    spark, light = found["spark"], found["light"]
    return {
        f"spark_floor{place}_ms": round(spark.ms, 1),
        f"light_floor{place}_ms": round(light.ms, 1),
        f"floor{place}_ratio": round(light.ms / spark.ms, 3),
        f"spark_floor{place}_cpu_ms": round(spark.cpu_ms, 1),
        f"light_floor{place}_cpu_ms": round(light.cpu_ms, 1),
    }


def trains(scratch: Path, count: int) -> dict[str, object]:
    """Small trains and large ones."""
    found = floors(small_trains(scratch / "small", count, "on disk"))
    if MEMORY.is_dir():
        # Without the disk, which both wait for equally, and where other programs interfere.
        with tempfile.TemporaryDirectory(prefix="australis-runners-", dir=MEMORY) as memory:
            found |= floors(small_trains(Path(memory), count, "in memory"), "_in_memory")
    large = large_trains(scratch / "large")
    return {
        **found,
        **{f"{name}_million_s": round(each.ms / 1e3, 3) for name, each in large.items()},
        **{f"{name}_million_cpu_s": round(each.cpu_ms / 1e3, 3) for name, each in large.items()},
    }


def _said(what: str, found: dict[str, Measured], shown: Callable[[Measured], str]) -> dict[str, Measured]:
    for name, measured in found.items():
        print(f"{what:40} {name:9} {shown(measured)}  CPU {measured.cpu_ms:7.1f} ms", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trains", type=int, default=250, help="small ones, of each runner")
    parser.add_argument("--starts", type=int, default=7, help="of fresh processes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="australis-runners-") as folder:
        found = trains(Path(folder), given.trains)
        starts = first_results(Path(folder), given.starts)
    for name, seconds in starts.items():
        print(f"{name:40} {seconds} s", flush=True)
    print(json.dumps({**found, **starts}))


if __name__ == "__main__":
    run(main)
