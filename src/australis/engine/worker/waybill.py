"""What a task of a train receives, a waybill in JSON, and what it returns, a manifest.

Driver and tasks may be on different machines, so both are plain values; the network is in a plan file.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import pickle
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from australis.algebra.quality import ValueGraph
from australis.engine.store import Lookup, Segment, Splitting
from australis.errors import AustralisError, EngineError, Problem
from australis.kernels.kernel import LocalTimes
from australis.kernels.marks import Marks

Numbers = npt.NDArray[np.int64]

ARRIVAL_STEP_US = 1000
"""Arrival times are reported in steps of this, so that a manifest stays small."""
_MANIFEST, _FAILURE, _FAULT = b"M", b"F", b"X"
_NO_MEMORY = os.strerror(errno.ENOMEM)
_REASON_MOST = 500
"""How many characters of a reason are reported."""


@dataclass(frozen=True)
class TimeSlice:
    """Sequence numbers that go through a superbox at local times; `ending` if streams end after them.

    Tuples emitted by timeouts have the number `before`; those emitted by the end have the next one. With
    `load`, a new version of that stored table comes first. A slice that has either is one event, or time does
    not matter in it.
    """

    lo: int
    hi: int
    now: int
    before: int
    ending: bool = False
    load: str = ""
    later: str = ""
    """The events of the slice after its first, if there are any: where each begins, and its local time."""

    @classmethod
    def of_events(cls, lo: int, hi: int, begins: Sequence[int], times: Sequence[int]) -> TimeSlice:
        """A slice of one or more events."""
        return cls(lo, hi, times[0], begins[0], later=_later(begins, times))

    @cached_property
    def times(self) -> LocalTimes:
        """The local times of its events."""
        begins, times = np.frombuffer(base64.b64decode(self.later), np.int64).reshape(2, -1)
        return LocalTimes(np.append(self.before, begins), np.append(self.now, times))

    def divided(self, time: int) -> tuple[TimeSlice, TimeSlice | None]:
        """Its events before a local time, but at least the first, and the others.

        >>> both = TimeSlice.of_events(3, 9, [2, 5, 8], [100, 110, 140])
        >>> [(each.lo, each.hi, each.now) for each in both.divided(120)]
        [(3, 8, 100), (8, 9, 140)]
        >>> both.divided(200) == (both, None)
        True
        """
        begins, times = self.times
        count = max(1, int(np.searchsorted(times, time)))
        if count == len(times):
            return self, None
        middle = int(begins[count])
        first = replace(self, hi=middle, later=_later(begins[:count], times[:count]))
        return first, replace(
            self, lo=middle, now=int(times[count]), before=middle, later=_later(begins[count:], times[count:])
        )


def _later(begins: Sequence[int] | Numbers, times: Sequence[int] | Numbers) -> str:
    """All events but the first, as plain text."""
    return base64.b64encode(np.array([begins[1:], times[1:]], np.int64).tobytes()).decode()


@dataclass(frozen=True)
class Share:
    """What one task of a train does: some partitions, or some sequence numbers."""

    partitions: tuple[int, ...] = (0,)
    lo: int = 0
    hi: int = 1 << 62


@dataclass(frozen=True)
class GateDropBox:
    """A drop box at the gate of a stream: sheds `share` of the tuples on which `where` is true, or of all."""

    number: int
    """Its number in the log of drop boxes."""
    share: float
    where: str = ""
    rate: float = 0.0
    """The fraction of all tuples at its gate that should be shed."""

    @property
    def factor(self) -> float:
        """How many tuples each one stands for that the gate lets through."""
        return 1.0 / (1.0 - self.rate) if self.rate < 1.0 else 1.0


@dataclass(frozen=True)
class MarkRun:
    """The marks of an attribute from one sequence number up to another, as plain values."""

    lo: int
    hi: int
    before: int | float | None
    causes: str
    values: str
    doubles: bool

    @classmethod
    def of(cls, lo: int, hi: int, marks: Marks) -> MarkRun:
        causes, values = (base64.b64encode(each.tobytes()).decode() for each in (marks.causes, marks.values))
        return cls(lo, hi, marks.before, causes, values, marks.values.dtype == np.float64)

    def marks(self) -> Marks:
        """The marks that the run was made of."""
        kind = np.float64 if self.doubles else np.int64
        causes = np.frombuffer(base64.b64decode(self.causes), np.int64)
        return Marks(self.before, causes, np.frombuffer(base64.b64decode(self.values), kind))


@dataclass(frozen=True)
class Waybill:
    """A train: which superbox, over which segments, from which states."""

    root: str
    plan: str
    superbox: str
    train: int
    partitions: int
    """The number of parts into which the state is divided."""
    time_slices: tuple[TimeSlice, ...]
    shares: tuple[Share, ...]
    streams: Mapping[str, tuple[Segment, ...]]
    """The segments of each input of the superbox."""
    tables: Mapping[str, tuple[Segment, ...]] = field(default_factory=dict)
    """Stored tables: before the first train all existing versions, then new ones."""
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The state files by `box/partition`; none before the first train."""
    priorities: Mapping[str, float] = field(default_factory=dict)
    """The priority of each input's queue in the cache of decoded segments."""
    cache: int = 0
    layered_from: int = 0
    """The bytes from which on a state is kept in layers."""
    splits: Mapping[str, Splitting] = field(default_factory=dict)
    """How the segments of the arcs that it writes are split by the keys of their readers."""
    drop_boxes: Mapping[str, GateDropBox] = field(default_factory=dict)
    """The drop boxes that the tuples go through first, by input."""
    weights: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    """The weight of each input at whose gate some are shed, and by how much it grows for the others."""
    watched: Mapping[str, Mapping[str, ValueGraph]] = field(default_factory=dict)
    """The value graphs by which tuples are counted: by outputs of the superbox, and of the network."""

    members: tuple[str, ...] = ()
    """The superboxes of the plan that are joined in this one."""
    lookups: Mapping[str, Lookup] = field(default_factory=dict)
    """What the first boxes can pass of each input's history: no more of it has to be read."""
    asked: Mapping[str, int] = field(default_factory=dict)
    """Stored tables that are looked up, with their versions: answers of other versions are forgotten."""
    unloaded: bool = False
    """Whether no earlier train has read the stored tables."""
    limit_s: float | None = None
    """How long the train may take; None for no limit."""
    marks: Mapping[str, Mapping[str, tuple[MarkRun, ...]]] = field(default_factory=dict)
    """The marks of each input that has some, by attribute, in runs between ends of the streams."""
    set_aside: str = ""
    """Why all tuples of this train go to the quarantine; empty if they do not."""
    moments: tuple[tuple[int, int], ...] = ()
    """When its numbers were logged, if delays of its outputs count from then: from which number each time."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Waybill:
        given = json.loads(text)
        given["time_slices"] = tuple(TimeSlice(**each) for each in given["time_slices"])
        given["shares"] = tuple(
            Share(tuple(each["partitions"]), each["lo"], each["hi"]) for each in given["shares"]
        )
        for name in ("streams", "tables"):
            given[name] = {k: tuple(Segment(**each) for each in v) for k, v in given[name].items()}
        given["members"] = tuple(given["members"])
        given["states"] = {key: tuple(names) for key, names in given["states"].items()}
        given["moments"] = tuple((number, time) for number, time in given["moments"])
        given["drop_boxes"] = {name: GateDropBox(**each) for name, each in given["drop_boxes"].items()}
        given["weights"] = {name: (weight, factor) for name, (weight, factor) in given["weights"].items()}
        given["watched"] = {
            name: {output: ValueGraph(**graph) for output, graph in graphs.items()}
            for name, graphs in given["watched"].items()
        }
        given["marks"] = {
            name: {on: tuple(MarkRun(**run) for run in runs) for on, runs in marks.items()}
            for name, marks in given["marks"].items()
        }
        given["splits"] = {
            arc: Splitting(**{**each, "keys": tuple(each["keys"])}) for arc, each in given["splits"].items()
        }
        given["lookups"] = {name: Lookup.from_dict(each) for name, each in given["lookups"].items()}
        return cls(**given)


@dataclass(frozen=True)
class WrittenState:
    """A state file that a task wrote: a whole state, or a layer on top of those that it does not replace."""

    box: str
    partition: int
    name: str
    bytes: int
    replaces: tuple[str, ...] = ()
    is_whole: bool = True
    """Whether nothing of what the state was before counts any more."""


@dataclass(frozen=True)
class Manifest:
    """What a task did."""

    segments: tuple[Segment, ...]
    states: tuple[WrittenState, ...]
    boxes: Mapping[str, Mapping[str, int]]
    """Counters and nanoseconds of each box."""
    arrivals: Mapping[str, Sequence[tuple[int, int]]]
    """For each arc written, a histogram of arrival times: microseconds, and how many tuples have about these.
    """
    deadline: int | None
    gates: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """For each input, the tuples received, and those of them that were shed."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """Tuples emitted on each port of each box."""
    values: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """For each output of the network that has a value graph, its tuples by bin."""
    task_us: int = 0
    """How long the task took, from reading to writing."""
    triggers: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    """Like `arrivals`, when the events were logged that caused the tuples, if the waybill has moments."""
    awaits_marks: bool = False
    """Whether marks alone may make a box emit later."""

    @property
    def shed(self) -> int:
        """Tuples that drop boxes have shed."""
        return sum(shed for _, shed in self.gates.values())

    @property
    def received(self) -> int:
        """Tuples that were let through."""
        return sum(arrived - shed for arrived, shed in self.gates.values())

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Manifest:
        given: dict[str, Any] = json.loads(data)
        given["segments"] = tuple(Segment(**each) for each in given["segments"])
        given["states"] = tuple(
            WrittenState(**{**each, "replaces": tuple(each["replaces"])}) for each in given["states"]
        )
        return cls(**given)


def logged_at(moments: Sequence[tuple[int, int]], numbers: Numbers) -> Numbers:
    """When some sequence numbers were logged.

    >>> logged_at([(0, 1000), (5, 3000)], np.array([0, 4, 5, 9])).tolist()
    [1000, 1000, 3000, 3000]
    """
    begins, times = np.array(moments, np.int64).T
    return LocalTimes(begins, times).of(numbers)


def answer(run: Callable[[], Manifest]) -> bytes:
    """What a task sends back: a manifest, or the error that stopped it, if a retry would not help."""
    try:
        return _MANIFEST + run().to_json()
    except AustralisError as error:
        if _is_short_of_memory(error):
            # Whoever met it took it for damage, or for a fault of a tuple.
            raise MemoryError(str(error)) from error
        return _FAILURE + pickle.dumps(error)


def answer_or_fault(run: Callable[[], Manifest]) -> bytes:
    """What a task sends back from another process: its answer, or how it failed unexpectedly."""
    try:
        return answer(run)
    except Exception as error:
        kind = _kind_of(error)
        if kind == "other":
            traceback.print_exc()
        return _FAULT + json.dumps([kind, f"{type(error).__name__}: {error}"]).encode()


def ran_out_of_memory(data: bytes) -> bool:
    """Whether a task sent that it ran out of memory."""
    return data[:1] == _FAULT and json.loads(data[1:])[0] == "memory"


def manifest_of(data: bytes, superbox: str = "") -> Manifest:
    """The manifest that a task of a superbox sent; raises the error or the fault sent instead."""
    if data[:1] == _FAILURE:
        raise pickle.loads(data[1:])
    if data[:1] == _FAULT:
        kind, reason = json.loads(data[1:])
        raise _FAULTS[kind](failure(superbox, reason))
    return Manifest.from_json(data[1:])


def failure(superbox: str, reason: str) -> Problem:
    """The problem of a train that did not finish."""
    return Problem(superbox, f"its train failed: {reason[:_REASON_MOST]}")


RunTrain = Callable[[Waybill], list[Manifest]]
"""Runs a train; everything that its tasks did is in their manifests."""


class TrainFailed(EngineError):
    """A train that its runner could not finish, but that may succeed when it is retried."""


class TooLarge(TrainFailed):
    """A train whose worker was lost or ran out of memory: it may succeed with fewer tuples."""


class OutOfMemory(TooLarge):
    """A train that reported that it ran out of memory: it would again with as many tuples."""


class TaskFault(TrainFailed):
    """A train that failed unexpectedly, outside of its boxes; its tuples may be the cause."""


class Overran(EngineError):
    """A train that exceeded its time limit, and was ended."""

    @classmethod
    def after(cls, waybill: Waybill) -> Overran:
        """The error of a train that was ended at its time limit."""
        return cls(Problem(waybill.superbox, f"its train took longer than {waybill.limit_s:g} s"))


_FAULTS: Mapping[str, type[TrainFailed]] = {
    "file": TrainFailed,
    "memory": OutOfMemory,
    "other": TaskFault,
}


def _kind_of(error: Exception) -> str:
    if _is_short_of_memory(error):
        return "memory"
    return "file" if isinstance(error, OSError) else "other"


def _is_short_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or one that it comes from, says that memory is short."""
    while error is not None:
        # Arrow reports what the system said as text.
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and _NO_MEMORY in str(error)):
            return True
        error = error.__cause__
    return False
