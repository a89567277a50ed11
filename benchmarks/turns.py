"""Sides of a benchmark that take passes in turn, each in a process of its own, and what their passes took.

A side is a process that serves passes (`serve`): it reads a request a line, does a pass in a folder, and
writes the clock, the cores' time and the digest of each output. All sides live throughout, so that every pass
but the first finds compilers, classes and workers warm, and a slow minute of the machine meets all sides
alike. This module needs no package but Arrow, since other engines have environments of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.engine.digest import Digest, as_json, from_json
from benchmarks.saying import say

Outcome = tuple[float, float, dict[str, Digest]]
Run = Callable[[Path, Any], Outcome]
"""A pass in a folder, tuned in some way: its clock, the cores' time, and the outputs' contents."""
END_S = 60.0


@dataclass(frozen=True)
class Spread:
    """The median of some figures, and the least and the most of them."""

    median: float
    least: float
    most: float

    @staticmethod
    def of(figures: Sequence[float]) -> Spread:
        return Spread(median(figures), min(figures), max(figures))

    def text(self, digits: int = 2) -> str:
        """For a table."""
        return f"{self.median:.{digits}f} [{self.least:.{digits}f}-{self.most:.{digits}f}]"


@dataclass(frozen=True)
class Passes:
    """What the timed passes of a side took, in the order of the turns."""

    how: str
    clock_s: tuple[float, ...]
    cpu_s: tuple[float, ...]
    digests: Mapping[str, Digest]

    @property
    def clock(self) -> Spread:
        return Spread.of(self.clock_s)

    @property
    def cpu(self) -> Spread:
        return Spread.of(self.cpu_s)


@dataclass(frozen=True)
class Ratio:
    """How many times as much others took: by the medians; the least and the most, pass by pass."""

    clock: Spread
    cpu: Spread

    @staticmethod
    def of(ours: Passes, others: Sequence[Passes]) -> Ratio:
        """Of several tunings of the other side the one that took least counts, for each figure by itself."""
        quickest = min(others, key=lambda one: one.clock.median)
        cheapest = min(others, key=lambda one: one.cpu.median)
        return Ratio(_times(quickest.clock_s, ours.clock_s), _times(cheapest.cpu_s, ours.cpu_s))


def _times(theirs: Sequence[float], ours: Sequence[float]) -> Spread:
    in_turn = [other / own for other, own in zip(theirs, ours, strict=True)]
    return Spread(median(theirs) / median(ours), min(in_turn), max(in_turn))


@dataclass(frozen=True)
class Side:
    """A process that serves passes, and the ways in which it is to be tuned, each with its name."""

    command: Sequence[str]
    ways: Mapping[str, Any]
    environment: Mapping[str, str] | None = None


def in_turn(
    sides: Mapping[str, Side], scratch: Path, passes: int, warm_ups: int = 1
) -> dict[str, list[Passes]]:
    """For each side what its ways took: all of them in turn, after turns that only warm up."""
    with ExitStack() as stack:
        served = {name: stack.enter_context(_served(name, side)) for name, side in sides.items()}
        found: dict[tuple[str, str], list[Outcome]] = {}
        for turn in range(warm_ups + passes):
            for name, ask in served.items():
                for way, tuning in sides[name].ways.items():
                    outcome = ask(scratch / f"{name}-{turn}", tuning)
                    found.setdefault((name, way), []).append(outcome)
                    clock, cpu, _ = outcome
                    kind = "" if turn >= warm_ups else " (warm-up)"
                    say(f"    {name}, {way}: {clock:.2f} s, {cpu:.2f} s of the cores{kind}")
    _check_equal(found)
    return {
        name: [_timed(way, found[name, way][warm_ups:]) for way in side.ways] for name, side in sides.items()
    }


def once(name: str, side: Side, scratch: Path) -> dict[str, Digest]:
    """What comes out of a single pass."""
    (tuning,) = side.ways.values()
    with _served(name, side) as ask:
        return ask(scratch / name, tuning)[2]


def _timed(way: str, timed: Sequence[Outcome]) -> Passes:
    return Passes(way, tuple(clock for clock, _, _ in timed), tuple(cpu for _, cpu, _ in timed), timed[0][2])


def _check_equal(found: Mapping[tuple[str, str], Sequence[Outcome]]) -> None:
    """Refuse to compare different results."""
    (first, outcomes), *_ = found.items()
    expected = outcomes[0][2]
    for (name, way), others in found.items():
        for _, _, digests in others:
            for output, digest in digests.items():
                if not digest.agrees(expected[output]):
                    raise SystemExit(
                        f"{output} of {name}, {way}: {digest}, but of {first[0]}: {expected[output]}"
                    )


@contextmanager
def _served(name: str, side: Side) -> Iterator[Callable[[Path, Any], Outcome]]:
    environment = {**os.environ, **(side.environment or {})}
    with subprocess.Popen(
        side.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def ask(root: Path, tuning: Any) -> Outcome:
            requests.write(json.dumps({"root": str(root), "tuning": tuning}) + "\n")
            requests.flush()
            line = answers.readline()
            if not line:
                raise SystemExit(f"{name} ended with {process.wait()}: see above")
            made = json.loads(line)
            return made["clock_s"], made["cpu_s"], from_json(made["digests"])

        try:
            yield ask
        finally:
            # The end of the requests ends the process; what hangs is killed, and its children with the pipe.
            requests.close()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()


def serve(start: Callable[[], Run]) -> None:
    """Do passes for the requests on standard input; whatever else is printed goes to standard error."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        run = start()
        for line in sys.stdin:
            request = json.loads(line)
            root = Path(request["root"])
            clock, cpu, digests = run(root, request["tuning"])
            shutil.rmtree(root, ignore_errors=True)
            answers.write(json.dumps({"clock_s": clock, "cpu_s": cpu, "digests": as_json(digests)}) + "\n")
            answers.flush()
