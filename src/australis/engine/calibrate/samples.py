"""Samples: the tuples of each input that a calibration sends through a network, by their rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np
import pyarrow as pa

from australis.algebra.network import Network
from australis.algebra.schema import Schema
from australis.engine.calibrate.keys import met
from australis.engine.files import open_reader
from australis.engine.sources import AS_IT_IS, PREFIX, TICKS, GeneratorSource, parse_generator
from australis.engine.tables import StoreReader
from australis.errors import AustralisError, EngineError, Problem
from australis.kernels.kernel import CAUSE

ROUNDS = (1_024, 65_536)
"""The tuples per round: few at first, since a box may be slow; later so many that overhead does not count."""
_TABLE = 1_000
"""The rows of a generated stored table: as many as the keys that generators draw."""
_DISORDER_STEPS = 3


@dataclass(frozen=True)
class Sample:
    """Tuples of every input, and rows of every stored table."""

    streams: Mapping[str, pa.Table]
    tables: Mapping[str, pa.Table]
    seconds: float
    """How long the streams take at their rates."""
    notes: tuple[str, ...] = ()

    @cached_property
    def cuts(self) -> tuple[int, ...]:
        """How many tuples have gone through after each round, from 0 on."""
        total, length = sum(table.num_rows for table in self.streams.values()), ROUNDS[0]
        found = [0]
        while found[-1] < total:
            found.append(min(found[-1] + length, total))
            length = min(2 * length, ROUNDS[1])
        return tuple(found)

    @property
    def rounds(self) -> int:
        return len(self.cuts) - 1

    def round(self, number: int) -> dict[str, pa.Table]:
        """The tuples of a round: a part of every input, interleaved as they would arrive."""
        parts = {name: self._part(table, number) for name, table in self.streams.items()}
        return _interleaved({name: part for name, part in parts.items() if part.num_rows})

    def until(self, number: int) -> float:
        """The fraction of all tuples that has gone through after a round."""
        return self.cuts[number + 1] / self.cuts[-1]

    def _part(self, table: pa.Table, number: int) -> pa.Table:
        begin, end = (table.num_rows * cut // self.cuts[-1] for cut in self.cuts[number : number + 2])
        return table.slice(begin, end - begin)


def sample(
    network: Network, sources: Mapping[str, str], rates: Mapping[str, float], tuples: int, seed: int = 0
) -> Sample:
    """A number of tuples, divided by the rates.

    Inputs without a file or generator are read from their stores; if they have none, tuples are generated, so
    that those who are looked up are there (see `keys`).
    """
    total = sum(rates.values())
    wanted = {name: max(1, round(tuples * rate / total)) for name, rate in rates.items()}
    drawn, tables, made, notes = {}, {}, set(), []
    for name, given in network.inputs.items():
        source, note = _source(network, name, sources.get(name))
        notes += [note] if note else []
        made |= {name} if source is None else set()
        if given.table:
            tables[name] = _first(network, name, source, _TABLE if source is None else tuples, seed)
        else:
            drawn[name] = _first(network, name, source, wanted[name], seed, 1e6 / rates[name])
    drawn, tables = met(network, drawn, tables, frozenset(made), seed)
    if not any(table.num_rows for table in drawn.values()):
        what = "there is no tuple to measure with"
        raise EngineError(Problem(network.name, what, "tuples that fit their input"))
    short = {name: table for name, table in drawn.items() if table.num_rows < wanted[name]}
    notes += (
        f"{name}: {table.num_rows:,} tuples, where its rate asks for {wanted[name]:,}"
        for name, table in short.items()
        if len(drawn) > 1 and len(short) < len(drawn)
    )
    seconds = sum(table.num_rows for table in drawn.values()) / total
    return Sample(drawn, tables, seconds, tuple(notes))


def _source(network: Network, name: str, text: str | None) -> tuple[str | StoreReader | None, str | None]:
    """What an input is sampled from, and a note: the given source, else its store; None if it is made up."""
    if text is not None or network.inputs[name].store is None:
        # Nobody waits for ticks: times are drawn instead.
        return None if text is None or text.startswith(TICKS) else text, None
    try:
        return StoreReader(network, name), None
    except AustralisError as error:
        return None, f"{name}: its store cannot be read, so that rows are made up ({error})"


def _first(
    network: Network,
    name: str,
    source: str | StoreReader | None,
    rows: int,
    seed: int,
    step_us: float = 1000,
) -> pa.Table:
    """The first tuples of a file, a store or a generator."""
    schema = network.inputs[name].arriving
    if source is None or (isinstance(source, str) and source.startswith(PREFIX)):
        drawn = made_up(name, schema.but_optional(), seed, step_us) if source is None else None
        made = drawn or _generator(name, str(source), schema)
        return _taken((made.batch(number) for number in count()), schema, min(rows, made.tuples or rows))
    if isinstance(source, StoreReader):
        with closing(source):
            return _taken((batch.table for batch in source.batches()), schema, rows)
    format = network.inputs[name].format
    with open_reader(source, schema, timezone=network.timezone, format=format) as reader:
        return _taken((batch.table for batch in reader.batches()), schema, rows)


def made_up(name: str, schema: Schema, seed: int = 0, step_us: float = 1000) -> GeneratorSource:
    """A generator whose times advance by a step for each tuple."""
    step = max(1, round(step_us))
    return GeneratorSource(
        name, schema, seed, step=f"{step} us", disorder=f"{step * _DISORDER_STEPS} us", options=AS_IT_IS
    )


def _generator(name: str, text: str, schema: Schema) -> GeneratorSource:
    """The generator that a text describes, as fast as it can."""
    return replace(parse_generator(name, text, schema, AS_IT_IS), options=AS_IT_IS)


def _taken(batches: Iterator[pa.Table], schema: Schema, rows: int) -> pa.Table:
    found, left = [schema.arrow.empty_table()], rows
    for batch in batches:
        found.append(batch.slice(0, left))
        left -= found[-1].num_rows
        if left <= 0:
            break
    return pa.concat_tables(found, promote_options="default")


def _interleaved(parts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Tables whose tuples are numbered in order of arrival, each spread evenly over the same time."""
    times = [(np.arange(part.num_rows) + 0.5) / part.num_rows for part in parts.values()]
    places = np.argsort(np.argsort(np.concatenate([*times, []]), kind="stable"), kind="stable")
    cuts = np.cumsum([part.num_rows for part in parts.values()])[:-1]
    return {
        name: part.append_column(CAUSE, pa.array(numbers))
        for (name, part), numbers in zip(parts.items(), np.split(places, cuts), strict=True)
    }
