"""The parts of the network: boxes, inputs, outputs and connection points, and what they keep."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain
from typing import Annotated, Any

import pyarrow as pa
from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from australis.algebra.schema import TS
from australis.engine.store import SEQ
from australis.errors import AlgebraError, EngineError, ErrorCode, ServiceError
from australis.service.host import Host, Kind, boxes, inputs, network_of_host, one, outputs, points, search
from australis.service.http.bodies import TUPLES, Form, streamed
from australis.service.http.context import TheHost, Viewer
from australis.service.http.errors import documented

router = APIRouter(prefix="/v1", tags=["parts"])
_SOME, _ONE = documented(ErrorCode.CONFLICT), documented(ErrorCode.CONFLICT, ErrorCode.NOT_FOUND)


class Box(BaseModel):
    """A box: what it is, and what it has done."""

    id: str
    kind: str
    tag: str
    description: str
    definition: dict[str, Any]
    """As a network file has it."""
    schemas: list[str]
    """The schema of each output port."""
    statistics: dict[str, Any] | None


class BoxList(BaseModel):
    """Every box, in the order of the streams."""

    boxes: list[Box]


class Input(BaseModel):
    """An input: what it takes, and what came."""

    name: str
    schema_: str = Field(alias="schema")
    weight: str | None
    """The attribute that says how many tuples a tuple stands for; tuples may come without it."""
    is_table: bool
    has_store: bool
    description: str
    received: int
    rejected: int
    mark: dict[str, Any] | None
    """What it has promised, if it makes marks."""
    table: dict[str, Any] | None
    """When its store was read, if it has one."""


class InputList(BaseModel):
    """Every input."""

    inputs: list[Input]


class OneInput(Input):
    """An input, and how far a source has come in it."""

    position: str | None
    """How far the source named in the request has come, in its own terms."""


class Output(BaseModel):
    """An output: what it gives, how much and how late."""

    name: str
    schema_: str = Field(alias="schema")
    from_: str | None = Field(alias="from")
    description: str
    quality: Any
    """Its graphs of quality, as a network file has them."""
    statistics: dict[str, Any] | None


class KeptOutput(BaseModel):
    """What an output keeps from `begin` up to `end`; an estimate where a segment is kept only in part."""

    begin: int
    end: int
    rows: int
    bytes: int


class OutputList(BaseModel):
    """Every output."""

    outputs: list[Output]


class Point(BaseModel):
    """A connection point: where it is, and what it keeps."""

    name: str
    at: str
    schema_: str = Field(alias="schema")
    history: Any
    tuples: int


class PointList(BaseModel):
    """Every connection point."""

    points: list[Point]


class Hit(BaseModel):
    """A part that was found."""

    kind: Kind
    id: str
    where: list[str]
    """The fields that have a word of the search."""
    text: str
    """The first of these fields."""


class HitList(BaseModel):
    """What was found, those by name first."""

    found: list[Hit]


@router.get("/boxes", responses=_SOME)
def all_boxes(host: TheHost, caller: Viewer) -> BoxList:
    """Every box: what it is, what it has done, and how large its state is."""
    return BoxList(boxes=[Box(**each) for each in boxes(host)])


@router.get("/boxes/{box}", responses=_ONE)
def one_box(host: TheHost, caller: Viewer, box: str) -> Box:
    """One box."""
    return Box(**one(boxes(host), "box", box, "id"))


@router.get("/inputs", responses=_SOME)
def all_inputs(host: TheHost, caller: Viewer) -> InputList:
    """Every input: what it takes, and what came."""
    return InputList(inputs=[Input(**each) for each in inputs(host)])


@router.get("/inputs/{name}", responses=_ONE)
def one_input(host: TheHost, caller: Viewer, name: str, source: str | None = None) -> OneInput:
    """One input, and how far a `source` has come that pushes with positions."""
    position = None if source is None else host.deployed.position(source)
    return OneInput(**one(inputs(host), "input", name), position=position)


@router.get("/outputs", responses=_SOME)
def all_outputs(host: TheHost, caller: Viewer) -> OutputList:
    """Every output: what it gives, how much and how late."""
    return OutputList(outputs=[Output(**each) for each in outputs(host)])


@router.get("/outputs/{name}", responses=_ONE)
def one_output(host: TheHost, caller: Viewer, name: str) -> Output:
    """One output."""
    return Output(**one(outputs(host), "output", name))


@router.get("/outputs/{name}/kept", responses=_ONE)
def kept(
    host: TheHost,
    caller: Viewer,
    name: str,
    begin: Annotated[int, Query(alias="from", ge=0, le=1 << 62)] = 0,
    rows: Annotated[int | None, Query(ge=1, le=1 << 62, description="Up to where there are so many")] = None,
) -> KeptOutput:
    """How much an output keeps from a number on: for readers that read ranges in parallel."""
    try:
        # Asked often, by readers that wait: without the statistics of all outputs.
        found = host.deployed.kept(name, begin, rows)
    except EngineError as error:
        raise ServiceError(ErrorCode.NOT_FOUND, error.problem) from None
    return KeptOutput(begin=begin, end=max(begin, found.end), rows=found.rows, bytes=found.bytes)


@router.get("/points", responses=_SOME)
def all_points(host: TheHost, caller: Viewer) -> PointList:
    """Every connection point, and how much it keeps."""
    return PointList(points=[Point(**each) for each in points(host)])


@router.get(
    "/points/{point}/history",
    responses={**_ONE, **TUPLES, **documented(ErrorCode.NOT_FOUND, ErrorCode.CONFLICT)},
    response_class=StreamingResponse,
)
def history(
    host: TheHost,
    caller: Viewer,
    point: str,
    where: Annotated[str | None, Query(description="A predicate over its attributes")] = None,
    since: Annotated[str | None, Query(description="ISO 8601, microseconds, or how long ago")] = None,
    until: Annotated[str | None, Query(description="ISO 8601, microseconds, or how long ago")] = None,
    columns: Annotated[str | None, Query(description="Attributes, with commas")] = None,
    limit: Annotated[int | None, Query(ge=0, le=1 << 62)] = None,
    form: Form = Form.JSON,
) -> StreamingResponse:
    """What a connection point keeps, in the order of its numbers, part by part."""
    one(points(host), "connection point", point)
    names = None if columns is None else [each.strip() for each in columns.split(",") if each.strip()]
    tables = _asked(host, point, where, instant(since), instant(until), names, limit)
    first = next(tables, None)
    schema = _empty(host, point, names) if first is None else first.schema
    return streamed(chain([] if first is None else [first], tables), schema, form)


def _asked(host: Host, point: str, where: str | None, since: Any, until: Any, names: Any, limit: Any) -> Any:
    try:
        return host.deployed.history(point, where, since=since, until=until, columns=names, limit=limit)
    except AlgebraError as error:
        problem = error.problems[0]
        raise ServiceError(ErrorCode.INVALID_REQUEST, problem) from None


def _empty(host: Host, point: str, names: list[str] | None) -> pa.Schema:
    """The schema of tuples of a connection point that keeps none."""
    network = network_of_host(host)
    schema = network.schemas[network.connection_points[point].at]
    fields = [schema.arrow.field(name) for name in names or schema.names]
    return pa.schema([*fields, (TS, pa.timestamp("us", "UTC")), (SEQ, pa.int64())])


def instant(text: str | None) -> datetime | int | str | None:
    """A time of a request: a number of microseconds, a time with a zone, or how long ago.

    >>> instant("12"), instant("2 h"), instant("2026-01-01T00:00:00Z").year
    (12, '2 h', 2026)
    """
    if text is None or text.lstrip("-").isdecimal():
        return None if text is None else int(text)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        # A span, such as "2 h"; whatever else it is, the node says so.
        return text
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@router.get("/search", responses=_SOME)
def find(
    host: TheHost,
    caller: Viewer,
    q: Annotated[str, Query(min_length=1, max_length=200, description="Words, all of which must occur")],
    kind: Kind | None = None,
) -> HitList:
    """Boxes, arcs, inputs, outputs and points by name, type, argument, tag or description."""
    found = search(network_of_host(host), q, kind)
    return HitList(found=[Hit(**each._asdict()) for each in found])
