"""Tuples out: an output from a number on, as it comes, and what connection points keep."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from australis.engine import Node
from australis.engine.store import SEQ
from australis.errors import EngineError, ErrorCode, Problem, ServiceError
from australis.service.fanout import Fanout, Piece, Way

LOOK_EVERY_S = 1.0
"""How often a call that waits looks whether its client is still there."""
BATCH_ROWS = 50_000
Sent = tuple[pa.RecordBatch, bytes]
"""A batch, and what is said of it."""


def output_schema(node: Node, output: str) -> pa.Schema:
    """The attributes of an output, `#ts` and `#seq`."""
    try:
        return node.read(output, 0, 0).schema
    except EngineError as error:
        raise ServiceError(ErrorCode.NOT_FOUND, error.problem) from None


def output_batches(
    node: Node, fanout: Fanout, ticket: dict[str, Any], is_over: Callable[[], bool]
) -> Iterator[Sent]:
    """What an output has from a number on, and with `follow` what comes, until the client has gone."""
    output, begin, end = ticket["output"], ticket.get("from"), ticket.get("to")
    schema = output_schema(node, output)
    if begin is None and ticket.get("consumer"):
        begin = node.consumer(ticket["consumer"], output)[0]
    pieces = _followed if ticket.get("follow") else _kept
    try:
        found = pieces(node, fanout, output, begin, is_over)
        yield from _until(found, end, schema)
    except EngineError as error:
        raise ServiceError(ErrorCode.INVALID_REQUEST, error.problem) from None


def _until(pieces: Iterator[Piece], end: int | None, schema: pa.Schema) -> Iterator[Sent]:
    for piece in pieces:
        if end is not None and piece.begin >= end:
            return
        if piece.is_missed:
            yield _empty(schema), json.dumps({"missed": [piece.begin, piece.end]}).encode()
        elif not piece.table.schema.equals(schema):
            hint = "the same call again"
            problem = Problem("", "the output has other attributes since a change", hint)
            raise ServiceError(ErrorCode.GONE, problem)
        else:
            table, following = piece.table, piece.end
            if end is not None and piece.end > end:
                table, following = table.slice(0, int(table[SEQ].to_numpy().searchsorted(end))), end
            if table.num_rows:
                # A batch that is told to be the last up to a number has all tuples before it.
                (batch,) = table.combine_chunks().to_batches()
                yield batch, json.dumps({"next": following}).encode()
        if end is not None and piece.end >= end:
            return


def _kept(
    node: Node, fanout: Fanout, output: str, begin: int | None, is_over: Callable[[], bool]
) -> Iterator[Piece]:
    follower = node.follow(output, 0 if begin is None else begin)
    last = node.log_end
    while follower.seq < last and not is_over():
        part = follower.next(BATCH_ROWS, wait_s=0)
        if part is None:
            return
        yield Piece(part.begin, part.end, part.table, is_missed=part.is_missed)


def _followed(
    node: Node, fanout: Fanout, output: str, begin: int | None, is_over: Callable[[], bool]
) -> Iterator[Piece]:
    subscriber = fanout.subscribe(node, output, begin, way=Way.FLIGHT)
    try:
        while not is_over():
            # Asked first: what comes last comes before the end.
            has_ended = subscriber.over is not None
            piece = subscriber.next(LOOK_EVERY_S)
            if piece is not None:
                yield piece
            elif has_ended:
                return
    finally:
        subscriber.close()


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], each.type) for each in schema], schema=schema)


# --- history


def history_tables(node: Node, ticket: dict[str, Any]) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """What a connection point keeps, and its schema."""
    point = ticket["point"]
    network = node.network()
    if point not in network.connection_points:
        known = ", ".join(network.connection_points) or "none"
        problem = Problem(point, f"there is no connection point {point!r}", f"one of {known}")
        raise ServiceError(ErrorCode.NOT_FOUND, problem)
    asked = {name: ticket.get(name) for name in ("since", "until", "columns", "limit")}
    try:
        tables = node.history(point, ticket.get("where"), **asked)
        first = next(tables, None)
    except EngineError as error:
        raise ServiceError(ErrorCode.INVALID_REQUEST, error.problem) from None
    if first is not None:
        return first.schema, _rest(first, tables)
    schema = network.schemas[network.connection_points[point].at].arrow_with_ts
    return schema.append(pa.field(SEQ, pa.int64())), iter(())


def _rest(first: pa.Table, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    yield first
    yield from tables
