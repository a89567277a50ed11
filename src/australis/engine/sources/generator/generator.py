"""A source without a file: `generator:seed=7,rate=1000/s,tuples=1000000`, the same tuples for the same seed.

Options: `seed` (0), `rate` (as fast as possible), `tuples` (no end), `step` between times (1 / rate, or 1 ms)
and `disorder`, by how much a time may be early (3 steps). An attribute is drawn as its type suggests, or as
`attribute=kind(arguments)` says: serial(), time(step, disorder), key(n), zipf(n), uniform(from, to),
normal(mean, deviation), chance(p), choice(a, b, c). The same version of numpy draws the same values.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.sources.delivery import Delivery, Positions
from australis.engine.sources.generator.columns import (
    BATCH_TUPLES,
    GeneratedColumn,
    check_column,
    default_column,
    draw,
    span,
)
from australis.engine.sources.options import AS_IT_IS, Options
from australis.engine.sources.pacing import Pacer, Rate, Speed
from australis.engine.sources.rates import parse_rate
from australis.engine.sources.waiting import Waiter
from australis.errors import EngineError, Problem

PREFIX = "generator:"
_OPTIONS = ("seed", "rate", "tuples", "step", "disorder")
_COLUMN = re.compile(r"\s*(\w+)\s*\((.*)\)\s*")
_OUTSIDE = re.compile(r",(?![^(]*\))")
_DEFAULT_STEP_US = 1000
_DISORDER_STEPS = 3


@dataclass(frozen=True)
class GeneratorSource:
    """Tuples drawn from a seed, endlessly or a given number; tuple n is the same in every run."""

    input: str
    schema: Schema
    seed: int = 0
    tuples: int | None = None
    step: str = f"{_DEFAULT_STEP_US} us"
    disorder: str = f"{_DEFAULT_STEP_US * _DISORDER_STEPS} us"
    columns: Mapping[str, GeneratedColumn] = field(default_factory=dict)
    options: Options = AS_IT_IS

    def __post_init__(self) -> None:
        if isinstance(self.options.replay, Speed):
            self.options.replay.check(self.schema)
        for name in self.columns:
            if name not in self.schema:
                what, known = f"there is no attribute {name!r}", ", ".join((*_OPTIONS, *self.schema.names))
                raise EngineError(Problem("generator", what, f"one of {known}"))
        for attribute in self.schema:
            check_column(attribute, self.all_columns[attribute.name])

    @cached_property
    def all_columns(self) -> dict[str, GeneratedColumn]:
        """How each attribute is drawn."""
        return {
            f.name: self.columns.get(f.name) or default_column(f, self.step, self.disorder)
            for f in self.schema
        }

    @property
    def id(self) -> str:
        return f"{self.input}={PREFIX}seed={self.seed}"

    @property
    def at_rest(self) -> bool:
        return self.options.replay is None and self.tuples is not None

    @property
    def is_endless(self) -> bool:
        return self.tuples is None

    @property
    def checksum(self) -> int:
        """A number for everything that the tuples depend on."""
        drawn = [f"{f} {self.all_columns[f.name]}" for f in self.schema]
        return zlib.crc32(json.dumps([self.seed, drawn]).encode())

    def batch(self, number: int) -> pa.Table:
        """The tuples of a batch, a pure function of the seed and its number."""
        columns = [draw(f, self.all_columns[f.name], self.seed, number) for f in self.schema]
        return pa.table(columns, self.schema.arrow)

    def start(self, positions: Positions, waiter: Waiter) -> RunningGenerator:
        return RunningGenerator(self, positions(self.id), waiter)


class RunningGenerator:
    """A running generator."""

    notes: tuple[str, ...] = ()

    def __init__(self, source: GeneratorSource, position: str | None, waiter: Waiter) -> None:
        self._source, self._waiter = source, waiter
        self._count, self.turn = _known(source, position)

    def deliveries(self) -> Iterator[Delivery]:
        """The tuples after the last committed one."""
        options = self._source.options
        pacer = Pacer(options.replay, self._waiter, options.batch) if options.replay else None
        while not self._waiter.is_ended and (table := self._rest_of_batch()).num_rows:
            for begin, end in pacer.cuts(table) if pacer else _cuts(table.num_rows, options.batch):
                yield self._delivery(table.slice(begin, end - begin))

    def _rest_of_batch(self) -> pa.Table:
        number, taken = divmod(self._count, BATCH_TUPLES)
        wanted = BATCH_TUPLES if self._source.tuples is None else self._source.tuples - self._count
        if wanted <= 0:
            return self._source.schema.arrow.empty_table()
        return self._source.batch(number).slice(taken, wanted)

    def _delivery(self, table: pa.Table) -> Delivery:
        self._count += table.num_rows
        self.turn += 1
        place = {"tuples": self._count, "turn": self.turn, "checksum": self._source.checksum}
        return Delivery(self._source.input, table, self._source.id, json.dumps(place, separators=(",", ":")))


def _cuts(rows: int, rows_max: int) -> Iterator[tuple[int, int]]:
    return ((begin, min(begin + rows_max, rows)) for begin in range(0, rows, rows_max))


def _known(source: GeneratorSource, position: str | None) -> tuple[int, int]:
    """How many tuples were committed, in how many turns."""
    if position is None:
        return 0, 0
    try:
        found = json.loads(position)
        count, turn, checksum = int(found["tuples"]), int(found["turn"]), found["checksum"]
    except (ValueError, TypeError, KeyError):
        raise EngineError(Problem(source.id, f"the position {position!r} is none of a generator")) from None
    if checksum != source.checksum:
        what = "draws other tuples than when it was last run"
        raise EngineError(Problem(source.id, what, "the same schema, steps and columns, or another seed"))
    return count, turn


def parse_generator(input: str, text: str, schema: Schema, options: Options) -> GeneratorSource:
    """The generator that a text such as `generator:seed=7,tuples=1000,sid=key(50)` describes.

    >>> from australis.algebra.schema import parse_schema
    >>> schema = parse_schema("sid int, time timestamp")
    >>> source = parse_generator("x", "generator:seed=7,tuples=3,sid=serial()", schema, Options())
    >>> source.batch(0).slice(0, 3)["sid"].to_pylist(), source.all_columns["sid"]
    ([0, 1, 2], GeneratedColumn(kind='serial', arguments=()))
    """
    settings, columns = _settings(text)
    if "rate" in settings:
        if options.replay is not None:
            raise EngineError(Problem(text, "a rate is given in it and beside it", "one of the two"))
        options = replace(options, replay=Rate(parse_rate(settings["rate"])))
    step_us = _step_us(settings, options)
    tuples = _whole("tuples", settings["tuples"]) if "tuples" in settings else None
    disorder = settings.get("disorder", f"{step_us * _DISORDER_STEPS} us")
    span("disorder", disorder)
    seed = _whole("seed", settings.get("seed", "0"))
    drawn = schema.but_optional(*columns)
    return GeneratorSource(input, drawn, seed, tuples, f"{step_us} us", disorder, columns, options)


def _settings(text: str) -> tuple[dict[str, str], dict[str, GeneratedColumn]]:
    """The options and the columns of a text; columns are those with parentheses."""
    settings: dict[str, str] = {}
    columns: dict[str, GeneratedColumn] = {}
    for part in filter(str.strip, _OUTSIDE.split(text.removeprefix(PREFIX))):
        name, equals, value = (side.strip() for side in part.partition("="))
        match = _COLUMN.fullmatch(value)
        if not equals or not (match or name in _OPTIONS):
            expected = f"{', '.join(f'{option}=...' for option in _OPTIONS)} or attribute=kind(...)"
            raise EngineError(Problem("generator", f"{part.strip()!r} is no option", expected))
        if match:
            columns[name] = GeneratedColumn(
                match[1], tuple(map(str.strip, match[2].split(","))) if match[2] else ()
            )
        else:
            settings[name] = value
    return settings, columns


def _step_us(settings: Mapping[str, str], options: Options) -> int:
    if "step" in settings:
        return span("step", settings["step"])
    if isinstance(options.replay, Rate):
        return max(1, round(1e6 / options.replay.tuples_per_s))
    return _DEFAULT_STEP_US


def _whole(name: str, text: str) -> int:
    match = re.fullmatch(r"(\d{1,18})([kKmMgG]?)", text)
    if not match:
        raise EngineError(Problem(f"generator.{name}", f"{text!r} is no whole number", "such as 7 or 10k"))
    return int(match[1]) * {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}[match[2].lower()]
