"""Ticks: a tuple with the time for each interval of local time, `ticks:every=1 s`.

Options: `every`, the interval; `begin`, a time such as 2024-05-06T10:00:00Z (the next multiple of `every`);
`tuples` (no end). Ticks that were missed while nothing ran are delivered at once, so none is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from australis.algebra.schema import Schema
from australis.algebra.spans import microseconds
from australis.engine.clock import wall_clock
from australis.engine.sources.delivery import Delivery, Positions
from australis.engine.sources.options import Options
from australis.engine.sources.waiting import Waiter
from australis.errors import AlgebraError, EngineError, Problem

TICKS = "ticks:"
_EXPECTED = "every=1 s, and begin=2024-05-06T10:00:00Z or tuples=100 if wanted"


@dataclass(frozen=True)
class TickSource:
    """A tuple for each multiple of an interval, when local time reaches it."""

    input: str
    schema: Schema
    every_us: int
    begin_us: int | None
    """The first tick; None for the next multiple of the interval when it is first started."""
    tuples: int | None
    options: Options
    clock: Callable[[], int] = wall_clock

    @property
    def id(self) -> str:
        return f"{self.input}={TICKS}every={self.every_us} us"

    @property
    def at_rest(self) -> bool:
        return False

    @property
    def is_endless(self) -> bool:
        return self.tuples is None

    def start(self, positions: Positions, waiter: Waiter) -> RunningTicks:
        return RunningTicks(self, positions(self.id), waiter)


class RunningTicks:
    """Running ticks, which continue after the last committed one."""

    notes: tuple[str, ...] = ()

    def __init__(self, source: TickSource, position: str | None, waiter: Waiter) -> None:
        self._source, self._waiter = source, waiter
        known = {} if position is None else json.loads(position)
        self._count, self.turn = known.get("ticks", 0), known.get("turn", 0)
        self._next: int | None = known.get("next", source.begin_us)

    def deliveries(self) -> Iterator[Delivery]:
        """The ticks that are due, and then each when it is."""
        source = self._source
        while not self._waiter.is_ended and (source.tuples is None or self._count < source.tuples):
            now = source.clock()
            if self._next is None:
                self._next = -(-now // source.every_us) * source.every_us
            if self._next <= now:
                yield self._delivery(self._next, now)
            elif not self._waiter.until(self._waiter.now() + (self._next - now) / 1e6):
                return

    def _delivery(self, first: int, now: int) -> Delivery:
        source = self._source
        due = min((now - first) // source.every_us + 1, source.options.batch)
        if source.tuples is not None:
            due = min(due, source.tuples - self._count)
        times = pa.array(first + np.arange(due) * source.every_us).cast(source.schema.arrow.types[0])
        self._count, self.turn, self._next = self._count + due, self.turn + 1, first + due * source.every_us
        place = json.dumps({"next": self._next, "ticks": self._count, "turn": self.turn})
        return Delivery(source.input, pa.table([times], source.schema.arrow), source.id, place)


def parse_ticks(input: str, text: str, schema: Schema, options: Options) -> TickSource:
    """The ticks that a text such as `ticks:every=1 s` describes.

    >>> from australis.algebra.schema import parse_schema
    >>> parse_ticks("x", "ticks:every=10 s,tuples=3", parse_schema("at timestamp"), Options()).every_us
    10000000
    """
    schema = schema.but_optional()
    if len(schema) != 1 or schema.fields[0].type.name != "timestamp":
        raise EngineError(Problem(text, f"the input has ({schema})", "one attribute, a timestamp"))
    if options.replay is not None:
        raise EngineError(Problem(text, "ticks come by the clock", "no rate or speed"))
    settings = dict(_setting(text, part) for part in text.removeprefix(TICKS).split(",") if part.strip())
    if "every" not in settings:
        raise EngineError(Problem(text, "every is missing", _EXPECTED))
    return TickSource(
        input,
        schema,
        _microseconds(text, settings["every"]),
        _instant(text, settings["begin"]) if "begin" in settings else None,
        _whole(text, settings["tuples"]) if "tuples" in settings else None,
        options,
    )


def _setting(text: str, part: str) -> tuple[str, str]:
    name, _, value = (side.strip() for side in part.partition("="))
    if name not in ("every", "begin", "tuples"):
        raise EngineError(Problem(text, f"{part.strip()!r} is no option", _EXPECTED))
    return name, value


def _microseconds(text: str, value: str) -> int:
    try:
        return microseconds(value)
    except AlgebraError as error:
        raise EngineError(error.problems[0].under(text)) from None


def _instant(text: str, value: str) -> int:
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise EngineError(
            Problem(text, f"begin is {value!r}", "a time such as 2024-05-06T10:00:00Z")
        ) from None
    return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()) * 1_000_000


def _whole(text: str, value: str) -> int:
    if not value.isdecimal():
        raise EngineError(Problem(text, f"tuples is {value!r}", "a whole number"))
    return int(value)
