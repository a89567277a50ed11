"""Tuples out: what an output keeps, and what comes, as server-sent events or over a WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

import pyarrow as pa
from fastapi import APIRouter, Header, Query, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import StreamingResponse

from australis.engine import Node
from australis.errors import AustralisError, EngineError, ErrorCode, Problem, ProblemError, ServiceError
from australis.service.access import Role
from australis.service.fanout import Fanout, Way
from australis.service.http.bodies import MEDIA_TYPES, TUPLES, Form, encoded
from australis.service.http.context import Lasting, TheContext, TheHost, Viewer
from australis.service.http.errors import answer, documented
from australis.service.http.following import Beat, EventStream, Following, Last, json_of
from australis.service.http.working import reading

router = APIRouter(prefix="/v1/outputs", tags=["outputs"])
LIMIT, LIMIT_MOST = 1_000, 100_000
"""How many tuples an answer has, unless more are asked for, and how many it has at most."""
NEXT, MISSED = "Australis-Next", "Australis-Missed"
"""Headers: from which number to read on, and which numbers are no longer kept."""
NUMBER_MOST = 1 << 62
DIGITS_MOST = len(str(NUMBER_MOST))
Number = Annotated[int, Query(ge=0, le=NUMBER_MOST)]
_REFUSED = 1008


_FORMS: dict[int | str, dict[str, Any]] = {
    200: {
        **TUPLES[200],
        "headers": {
            NEXT: {"description": "From which number to read on", "schema": {"type": "integer"}},
            MISSED: {"description": "FROM-TO: numbers that are no longer kept", "schema": {"type": "string"}},
        },
    }
}
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `tuples` (a JSON array), `missed` and `end`",
        "content": {"text/event-stream": {"schema": {}}},
    }
}


def check_output(node: Node, name: str) -> None:
    """Refuse an output that is not there."""
    try:
        node.kept(name)
    except EngineError as error:
        raise ServiceError(ErrorCode.NOT_FOUND, error.problem) from None


@router.get("/{name}/tuples", responses=_FORMS | documented(ErrorCode.NOT_FOUND, ErrorCode.CONFLICT))
async def tuples(
    name: str,
    host: TheHost,
    caller: Viewer,
    begin: Annotated[int, Query(alias="from", ge=0, le=NUMBER_MOST)] = 0,
    end: Annotated[int | None, Query(alias="to", ge=0, le=NUMBER_MOST)] = None,
    limit: Annotated[int, Query(ge=1, le=LIMIT_MOST)] = LIMIT,
    form: Form = Form.JSON,
) -> Response:
    """What an output keeps from a number on; `Australis-Next` is the number to read on from."""
    return await reading(lambda: _tuples(host.deployed, name, begin, end, limit, form))


def _tuples(node: Node, name: str, begin: int, end: int | None, limit: int, form: Form) -> Response:
    check_output(node, name)
    follower = node.follow(name, min(begin, node.log_end))
    headers, tables = {}, []
    left = limit
    while left > 0 and (end is None or follower.seq < end) and follower.seq >= begin:
        part = follower.next(rows=left, wait_s=0)
        if part is None:
            break
        if part.is_missed:
            headers[MISSED] = f"{part.begin}-{part.end}"
            continue
        table = part.table
        if end is not None and part.end > end:
            table, follower.seq = _before(table, end), end
        if table.num_rows > left:
            table, follower.seq = _first(table, left, follower.seq)
        tables.append(table)
        left -= table.num_rows
    found = pa.concat_tables(tables) if tables else node.read(name, 0, 0)
    headers[NEXT] = str(max(begin, follower.seq))
    body = b"".join(encoded([found], found.schema, form))
    return Response(body, media_type=MEDIA_TYPES[form], headers=headers)


def _before(table: pa.Table, end: int) -> pa.Table:
    return table.slice(0, int(table["#seq"].to_numpy().searchsorted(end)))


def _first(table: pa.Table, rows: int, end: int) -> tuple[pa.Table, int]:
    """About so many rows, those of one number together; and the number after them."""
    numbers = table["#seq"].to_numpy()
    last = int(numbers.searchsorted(numbers[rows - 1], "right"))
    return table.slice(0, last), end if last == len(numbers) else int(numbers[last])


# --- server-sent events


@router.get(
    "/{name}/events",
    response_class=StreamingResponse,
    dependencies=[Lasting],
    responses=_EVENTS | documented(ErrorCode.NOT_FOUND, ErrorCode.CONFLICT),
)
async def events(
    name: str,
    host: TheHost,
    context: TheContext,
    caller: Viewer,
    begin: Annotated[int | None, Query(alias="from", ge=0, le=NUMBER_MOST)] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """What comes on an output, from a number on; the id of an event is the number of its last tuple."""
    node = host.deployed
    await reading(lambda: check_output(node, name))
    following = await _begin(context.fanout, node, name, _resumed(begin, last_event_id), Way.EVENTS)
    return EventStream(_events(following), host.stopping.is_set, following.close)


def _resumed(begin: int | None, last_event_id: str | None) -> int | None:
    """From which number on to read: after the last event that the client has, if it says so."""
    if not last_event_id:
        return begin
    is_number = last_event_id.isascii() and last_event_id.isdecimal() and len(last_event_id) <= DIGITS_MOST
    if not is_number or int(last_event_id) >= NUMBER_MOST:
        problem = Problem("Last-Event-ID", f"is {last_event_id[:40]!r}", "the id of an event of this output")
        raise ServiceError(ErrorCode.INVALID_REQUEST, problem)
    return int(last_event_id) + 1


async def _begin(fanout: Fanout, node: Node, name: str, begin: int | None, way: Way) -> Following:
    try:
        return await Following.begin(fanout, node, name, begin, way)
    except EngineError as error:
        raise ServiceError(ErrorCode.INVALID_REQUEST, error.problem) from None


async def _events(following: Following) -> AsyncIterator[bytes]:
    # A comment at once, so that the client knows that it is connected.
    yield b": following\n\n"
    async for item in following.items():
        match item:
            case Beat():
                yield b": alive\n\n"
            case Last(why):
                yield b'event: end\ndata: {"reason":"%b"}\n\n' % why.encode()
            case piece if piece.is_missed:
                told = b'{"from":%d,"to":%d}' % (piece.begin, piece.end)
                yield b"id: %d\nevent: missed\ndata: %b\n\n" % (piece.end - 1, told)
            case piece:
                yield b"id: %d\nevent: tuples\ndata: %b\n\n" % (piece.last, await json_of(piece))


# --- WebSocket


@router.websocket("/{name}/socket")
async def socket(
    connection: WebSocket,
    name: str,
    host: TheHost,
    context: TheContext,
    caller: Viewer,
    begin: Annotated[int | None, Query(alias="from", ge=0, le=NUMBER_MOST)] = None,
    consumer: Annotated[str | None, Query(min_length=1, max_length=200)] = None,
) -> None:
    """What comes on an output; a consumer with a name begins where it has acknowledged, and goes on so."""
    try:
        node = host.deployed
        await reading(lambda: check_output(node, name))
        if consumer is not None:
            caller.check(Role.OPERATOR)
            begin = (await reading(lambda: node.consumer(consumer, name)))[0]
        following = await _begin(context.fanout, node, name, begin, Way.SOCKET)
    except ProblemError as error:
        await connection.send_denial_response(answer(error))
        return
    try:
        await connection.accept(subprotocol_of(connection))
        hearing = asyncio.create_task(_hear(connection, node, name, consumer))
        sending = asyncio.create_task(_send(connection, following))
        await asyncio.wait((hearing, sending), return_when=asyncio.FIRST_COMPLETED)
        for task in (hearing, sending):
            task.cancel()
        await asyncio.gather(hearing, sending, return_exceptions=True)
    finally:
        following.close()


def subprotocol_of(connection: WebSocket) -> str | None:
    """The subprotocol that carries a token must be answered with, or browsers close the connection."""
    offered: list[str] = connection.scope.get("subprotocols", [])
    return next((each for each in offered if each.startswith("australis.")), None)


async def _send(connection: WebSocket, following: Following) -> None:
    with contextlib.suppress(WebSocketDisconnect):  # the client has gone: the other task ends as well
        async for item in following.items():
            match item:
                case Beat():
                    await connection.send_text('{"event":"alive"}')
                case Last(why):
                    await connection.send_text(json.dumps({"event": "end", "reason": why}))
                case piece if piece.is_missed:
                    told = {"event": "missed", "from": piece.begin, "to": piece.end}
                    await connection.send_text(json.dumps(told))
                case piece:
                    tuples = (await json_of(piece)).decode()
                    await connection.send_text(f'{{"event":"tuples","last":{piece.last},"tuples":{tuples}}}')
        await connection.close()


async def _hear(connection: WebSocket, node: Node, name: str, consumer: str | None) -> None:
    """Acknowledge what the client says; anything else ends the connection."""
    while True:
        message = await connection.receive()
        if message["type"] != "websocket.receive":
            return
        try:
            given = json.loads(message.get("text") or "")
            seq = given["acknowledge"]
            if consumer is None or type(seq) is not int:
                raise ValueError
            await reading(partial(node.acknowledge, consumer, name, seq + 1))
        except (ValueError, KeyError, TypeError, RecursionError, AustralisError):
            # Whatever it was, the client learns what would have been right.
            hint = '{"acknowledge": SEQ} of a tuple that came, with ?consumer=NAME'
            await connection.close(_REFUSED, f"expected {hint}")
            return
