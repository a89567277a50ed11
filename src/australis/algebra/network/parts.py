"""The parts of a network: streams, inputs, boxes in their places, outputs, connection points, groups."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import NoneType

from australis.algebra.boxes import Box, at
from australis.algebra.guards import guard, guard_texts
from australis.algebra.progress import Progress
from australis.algebra.quality import Quality
from australis.algebra.schema import Field, Schema
from australis.algebra.spans import microseconds
from australis.algebra.store import FileFormat, Store, StoreKind, format_problems, store_problems
from australis.algebra.types import DOUBLE
from australis.errors import AlgebraError, Problem

FOREVER = "forever"
_PORT = re.compile("[0-9]{1,9}")
_SOURCE = re.compile(r"[a-z0-9-]{1,63}(/[a-z0-9-]{1,63})?/[a-z_][a-z0-9_.]{0,254}")


@dataclass(frozen=True)
class Ref:
    """A stream inside a network: an input, or an output port of a box.

    >>> Ref.parse("detect.route.2")
    Ref(id='detect.route', port=2)
    >>> str(Ref("across"))
    'across'
    """

    id: str
    port: int = 0

    @classmethod
    def parse(cls, text: str) -> Ref:
        head, _, tail = text.rpartition(".")
        return cls(head, int(tail)) if head and _PORT.fullmatch(tail) else cls(text)

    def __hash__(self) -> int:
        # Networks look streams up so often that the hash of a pair would show.
        return hash(self.id) + self.port

    def __str__(self) -> str:
        return f"{self.id}.{self.port}" if self.port else self.id


@dataclass(frozen=True)
class Input:
    """A stream that comes in from outside, or a stored table; a store says where its rows are read.

    A format says how its files are written, where their names do not. A source is an output of another node;
    what is to be done with its tuples there, before they cross over, is a chain of boxes.
    """

    schema: Schema
    table: bool = False
    description: str = ""
    store: Store | None = None
    progress: Progress | None = None
    marked: frozenset[str] = frozenset()
    """Attributes that have marks from elsewhere: this is an arc inside a larger network."""
    format: FileFormat | None = None
    source: str | None = None
    """`participant/node/output`, or `participant/output` wherever the participant has it."""
    before: tuple[Box, ...] = ()
    """Boxes that run at the other node, each reading the one before: only what they emit comes here."""
    reads: Schema | None = None
    """The attributes of the other node's output that these boxes read; those of the input if left out."""
    weight: str | None = None
    """The attribute that says how many tuples a tuple stands for: 1 where it comes without."""

    def __post_init__(self) -> None:
        guard(self.schema, Schema, "schema", "a Schema")
        guard(self.table, bool, "table", "True or False")
        guard_texts(self, "description")
        guard(self.store, (Store, NoneType), "store", "a Store")
        guard(self.format, (FileFormat, NoneType), "format", "a FileFormat")
        guard(self.progress, (Progress, NoneType), "progress", "a Progress")
        problems = store_problems(self.store, self.schema, table=self.table) if self.store else ()
        format_problems = self._format_problems()
        found = [*(each.under("store") for each in problems), *format_problems]
        if found := [*found, *self._source_problems(), *self._weight_problems()]:
            raise AlgebraError(found)
        self._check_before()
        if self.progress is not None:
            self._check_progress(self.progress)

    @cached_property
    def arriving(self) -> Schema:
        """The schema of what sources deliver: they may leave out the weight."""
        if self.weight is None:
            return self.schema
        weight = Field(self.weight, DOUBLE, nullable=True, optional=True)
        return Schema(tuple(weight if each.name == self.weight else each for each in self.schema))

    def _weight_problems(self) -> Iterator[Problem]:
        guard(self.weight, (str, NoneType), "weight", "the name of an attribute")
        if self.weight is None:
            return
        expected = "an attribute of the type double not null"
        if self.table:
            yield Problem("weight", "is for streams, but this is a stored table", "no weight")
        elif self.weight not in self.schema:
            yield Problem("weight", f"unknown attribute {self.weight!r}", expected)
        elif self.schema[self.weight] != Field(self.weight, DOUBLE, nullable=False):
            what = f"the attribute {self.weight!r} has the type {self.schema[self.weight].type_text}"
            yield Problem("weight", what, expected)

    def _check_progress(self, progress: Progress) -> None:
        if self.table:
            what = "a stored table is complete when it is read"
            raise AlgebraError(Problem("progress", what, "progress only for streams"))
        with at("progress"):
            progress.bind(self.schema)

    def _source_problems(self) -> Iterator[Problem]:
        guard(self.source, (str, NoneType), "from", "a text")
        if self.source is None:
            return
        if not _SOURCE.fullmatch(self.source):
            expected = "PARTICIPANT/NODE/OUTPUT, such as lab/edge-1/speeds, or PARTICIPANT/OUTPUT"
            yield Problem("from", f"{self.source!r} is no output of another node", expected)
        if self.table or self.store is not None:
            yield Problem(
                "from", "tuples of another node and a stored table exclude each other", "one of them"
            )

    def _check_before(self) -> None:
        """Refuse boxes for another node that do not make the input's tuples of what they read."""
        guard(self.before, tuple, "before", "a tuple of boxes")
        guard(self.reads, (Schema, NoneType), "reads", "a Schema")
        if not self.before:
            if self.reads is not None:
                raise AlgebraError(Problem("reads", "is given, but nothing reads it", "boxes in `before`"))
            return
        if self.source is None:
            what = "boxes for another node, but the input is no output of one"
            raise AlgebraError(Problem("before", what, "`from`: PARTICIPANT/NODE/OUTPUT"))
        found = chained(self.before, self.reads or self.schema)
        if not self.schema.takes(found):
            raise AlgebraError(Problem("before", f"makes ({found}) of what it reads", f"({self.schema})"))

    def _format_problems(self) -> Iterator[Problem]:
        if self.format is None:
            return
        yield from (problem.under("format") for problem in format_problems(self.format, self.arriving))
        if self.store is not None and self.store.kind is not StoreKind.FILE:
            yield Problem("format", f"is {self.format}, but the store is a database", "none, or a file")


def chained(boxes: Sequence[Box], schema: Schema) -> Schema:
    """The schema of what comes out of a chain of boxes; each takes the first output of the one before.

    >>> from australis.algebra.boxes import Filter, Map
    >>> from australis.algebra.schema import parse_schema
    >>> boxes = [Filter(("price > 9",)), Map({"twice": "2 * price"})]
    >>> str(chained(boxes, parse_schema("price int not null")))
    'twice int not null'
    """
    for index, box in enumerate(boxes):
        with at(f"before[{index}]"):
            guard(box, Box, "", "a box")
            if box.arity[0] > 1:
                raise AlgebraError(Problem("box", f"{box.kind} reads several streams", "boxes that read one"))
            schema = box.output_schemas(schema)[0]
    return schema


@dataclass(frozen=True)
class Node:
    """A box in the network: what it does, and the streams at its input ports."""

    box: Box
    sources: tuple[Ref, ...]
    tag: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        guard(self.box, Box, "box", "a box")
        guard_texts(self, "tag", "description")


@dataclass(frozen=True)
class Output:
    """A stream delivered to applications, with the worth of its quality."""

    source: Ref
    quality: Quality | None = None
    description: str = ""

    def __post_init__(self) -> None:
        guard(self.quality, (Quality, NoneType), "quality", "a Quality")
        guard_texts(self, "description")


@dataclass(frozen=True)
class ConnectionPoint:
    """An arc that queries can attach to and that keeps history: for a time, a number of tuples, or for ever.

    With an `importance` it is a view, which nothing reads yet: boxes that lead only to it run when the node
    is otherwise idle, the most important view first; a view of importance 0 is computed on request.
    """

    at: Ref
    history: str | int | None = None
    key: str | None = None
    description: str = ""
    importance: float | None = None

    def __post_init__(self) -> None:
        guard(self.history, (str, int, NoneType), "history", "a time, a number of tuples, or 'forever'")
        guard(self.key, (str, NoneType), "key", "the name of an attribute")
        guard_texts(self, "description")
        guard(self.importance, (float, int, NoneType), "importance", "a number")
        if self.importance is not None and not 0 <= self.importance < math.inf:
            raise AlgebraError(Problem("importance", f"is {self.importance!r}", "a number, 0 or more"))
        if isinstance(self.history, str) and self.history != FOREVER:
            with at("history"):
                microseconds(self.history)
        if isinstance(self.history, int) and self.history < 0:
            raise AlgebraError(Problem("history", f"{self.history!r} is not a number of tuples", "0 or more"))


@dataclass(frozen=True)
class Group:
    """A named part of a network, for the editor: all boxes whose id begins with the group's path."""

    tag: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        guard_texts(self, "tag", "description")
