"""Calls about what goes into a node, and what comes out of it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from australis.client.networks import listed
from australis.client.operation import operation
from australis.client.tuples import Receipt, bodies
from australis.client.volume import Piece
from australis.client.wire import KEY, MISSED, NEXT, Answer, Request, Steps
from australis.errors import ErrorCode, Problem, ServiceError

ROWS_OF_PAGE = 100_000
Instant = datetime | int | str | None


@dataclass(frozen=True)
class Kept:
    """How much an output keeps from `begin` up to `end`: an estimate where a segment is kept only in part."""

    begin: int
    end: int
    rows: int
    bytes: int


class Streams:
    """The calls about tuples, of both clients."""

    @operation
    def promise(self, name: str, value: Any) -> Steps[int | None]:
        """Promise that no later tuple of an input is below a value of its progress attribute."""
        body = {"value": value.isoformat() if isinstance(value, datetime) else value}
        return _end((yield Request.of("POST", f"{_input(name)}/promise", body)))

    @operation
    def flush(self) -> Steps[int | None]:
        """End all streams: buffers are released and windows closed."""
        return _end((yield Request.of("POST", "/v1/flush", repeatable=False)))

    @operation
    def refresh(self, name: str) -> Steps[int | None]:
        """Read the store of an input again; returns the end of the log, after which the new rows apply."""
        path = f"/v1/tables/{quote(name, safe='')}/refresh"
        return _end((yield Request.of("POST", path)))

    @operation
    def inputs(self) -> Steps[list[dict[str, Any]]]:
        """The inputs: their schemas, and what has come in."""
        return listed((yield Request.of("GET", "/v1/inputs")).json(), "inputs")

    @operation
    def outputs(self) -> Steps[list[dict[str, Any]]]:
        """The outputs: their schemas, and how they are served."""
        return listed((yield Request.of("GET", "/v1/outputs")).json(), "outputs")

    @operation
    def output(self, name: str) -> Steps[dict[str, Any]]:
        """One output: its schema, and how it is served."""
        return _object((yield Request.of("GET", _output(name))))

    @operation
    def read(self, output: str, begin: int = 0, end: int | None = None) -> Steps[pa.Table]:
        """All that an output keeps, or what has sequence numbers from `begin` up to `end`.

        The columns are its attributes, `#ts` and `#seq`.
        """
        pages: list[pa.Table] = []
        while True:
            piece = yield from self._page(output, begin, end, ROWS_OF_PAGE)
            if piece.table is not None and (piece.table.num_rows or not pages):
                pages.append(piece.table)
            if not pages[-1].num_rows or piece.following <= begin or (end and piece.following >= end):
                return pa.concat_tables(pages)
            begin = piece.following

    def _page(self, output: str, begin: int, end: int | None, limit: int) -> Steps[Piece]:
        """Some tuples of an output, from which number to read on, and what is not kept any more."""
        params = {"from": begin, "to": end, "limit": limit, "form": "arrow"}
        answer = yield Request.get(f"{_output(output)}/tuples", params)
        missed = answer.headers.get(MISSED.lower())
        table, following = answer.table(), int(answer.headers.get(NEXT.lower(), begin))
        if missed is None:
            return Piece(table, following)
        first, _, last = missed.partition("-")
        return Piece(table, following, (int(first), int(last)))

    def _has_all(self, output: str, begin: int, end: int | None) -> Steps[bool]:
        """Whether nothing more will come up to a number: a call that ended may have been cut off."""
        if end is None or begin >= end:
            return True
        kept = (yield Request.get(f"{_output(output)}/kept", {"from": begin})).json()
        if int(kept["end"]) < end:
            return False
        piece = yield from self._page(output, begin, end, 1)
        return piece.table is None or not piece.table.num_rows

    @operation
    def kept(self, output: str, begin: int = 0, rows: int | None = None) -> Steps[Kept]:
        """How much an output keeps from a number on; with `rows`, up to where there are about so many."""
        path, params = f"{_output(output)}/kept", {"from": begin, "rows": rows}
        told = (yield Request.get(path, params)).json()
        return Kept(int(told["begin"]), int(told["end"]), int(told["rows"]), int(told["bytes"]))

    @operation
    def history(
        self,
        point: str,
        where: str | None = None,
        *,
        since: Instant = None,
        until: Instant = None,
        columns: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Steps[pa.Table]:
        """What a connection point keeps: its attributes, `#ts` and `#seq`.

        `where` is a predicate. `since` and `until` are times of arrival: a datetime, microseconds since 1970,
        or a text such as "2 h", meaning two hours ago.
        """
        answer = yield Request.of(
            "GET",
            f"/v1/points/{quote(point, safe='')}/history",
            where=where,
            since=_instant(since),
            until=_instant(until),
            columns=None if columns is None else ",".join(columns),
            limit=limit,
            form="arrow",
        )
        return answer.table()

    @operation
    def points(self) -> Steps[list[dict[str, Any]]]:
        """The connection points, and what they keep."""
        return listed((yield Request.of("GET", "/v1/points")).json(), "points")

    @operation
    def consumers(self, output: str) -> Steps[list[dict[str, Any]]]:
        """The consumers of an output, and how far they are behind."""
        told = (yield Request.of("GET", f"/v1/outputs/{quote(output, safe='')}/consumers")).json()
        return listed(told, "consumers")

    @operation
    def consumer(self, consumer: str, output: str) -> Steps[tuple[int, str | None]]:
        """How far a consumer has come: the number after its last tuple, and its own note of it.

        For one that was not known, the node keeps tuples from now on.
        """
        told = (yield Request.of("POST", _consumer(output, consumer))).json()
        return int(told["seq"]), told.get("position")

    @operation
    def acknowledge(self, consumer: str, output: str, seq: int, position: str | None = None) -> Steps[None]:
        """Acknowledge all tuples of a consumer before a number; what nobody needs any more is deleted."""
        body = {"seq": seq, **({} if position is None else {"position": position})}
        yield Request.of("PUT", _consumer(output, consumer), body)

    @operation
    def forget(self, consumer: str, output: str) -> Steps[None]:
        """Keep nothing for a consumer that will not return."""
        yield Request.of("DELETE", _consumer(output, consumer))

    def _pushing_once(self, name: str, table: pa.Table, key: str) -> Steps[Receipt]:
        """Push a table as a whole, unless something was pushed under the key."""
        (body,) = bodies(table, len(table) and table.nbytes + 1)
        headers = {"Content-Type": body.media_type, KEY: key}
        try:
            answer = yield Request("POST", f"{_input(name)}/tuples", {}, headers, body.content)
        except ServiceError as error:
            if error.code is ErrorCode.KEY_REUSED:
                return Receipt(0, repeated=True)
            raise
        return Receipt.of(answer.json())

    def _pushing(self, name: str, pushed: object, key: str | None) -> Steps[Receipt]:
        """Push over HTTP, in one request or several; each has a key, so that it can be sent again."""
        base, done = key or secrets.token_hex(16), None
        for number, body in enumerate(bodies(pushed)):
            headers = {"Content-Type": body.media_type, KEY: base if number == 0 else f"{base}/{number}"}
            answer = yield Request("POST", f"{_input(name)}/tuples", {}, headers, body.content)
            receipt = Receipt.of(answer.json())
            done = receipt if done is None else done + receipt
        assert done is not None, "there is at least one request"
        return done


class Observations:
    """The calls about how a node does, of both clients."""

    @operation
    def status(self) -> Steps[dict[str, Any]]:
        """What the node is, what it does, and who asks."""
        return _object((yield Request.of("GET", "/v1/node")))

    @operation
    def statistics(self) -> Steps[dict[str, Any]]:
        """The statistics of boxes, queues and outputs."""
        return _object((yield Request.of("GET", "/v1/statistics")))

    @operation
    def dropboxes(self) -> Steps[list[dict[str, Any]]]:
        """The drop boxes so far: where, with which predicate, since when, and what they shed."""
        return listed((yield Request.of("GET", "/v1/dropboxes")).json(), "dropboxes")

    @operation
    def quality(self) -> Steps[dict[str, Any]]:
        """What outputs received over the last seconds, and its utility by their QoS graphs."""
        return _object((yield Request.of("GET", "/v1/quality")))

    @operation
    def boxes(self) -> Steps[list[dict[str, Any]]]:
        """The boxes: their statistics, and what their states take."""
        return listed((yield Request.of("GET", "/v1/boxes")).json(), "boxes")

    @operation
    def arcs(self) -> Steps[list[dict[str, Any]]]:
        """The arcs, and what waits on them."""
        return listed((yield Request.of("GET", "/v1/arcs")).json(), "arcs")

    @operation
    def search(self, text: str, kind: str | None = None) -> Steps[list[dict[str, Any]]]:
        """Boxes, arcs, inputs and outputs by name, type, argument, tag or description."""
        return listed((yield Request.of("GET", "/v1/search", q=text, kind=kind)).json(), "found")

    @operation
    def members(self) -> Steps[list[dict[str, Any]]]:
        """The nodes that this one knows: name, address, and whether it is alive."""
        return listed((yield Request.of("GET", "/v1/cluster/members")).json(), "members")

    @operation
    def where(self, name: str) -> Steps[dict[str, Any]]:
        """The nodes that have what a name, PARTICIPANT/NAME, stands for."""
        return _object((yield Request.of("GET", "/v1/cluster/where", name=name)))

    @operation
    def find(self, pattern: str) -> Steps[dict[str, Any]]:
        """The names that match a pattern, and whether all nodes have answered."""
        return _object((yield Request.of("GET", "/v1/cluster/find", pattern=pattern)))

    @operation
    def cluster(self) -> Steps[dict[str, Any]]:
        """Other nodes, the links with them, boxes that moved, and the pieces and grants of both."""
        return _object((yield Request.of("GET", "/v1/cluster")))

    @operation
    def withdraw_grant(self, withdrawal: dict[str, Any]) -> Steps[dict[str, Any]]:
        """Let a node heed the withdrawal of a grant."""
        body = {"withdrawal": withdrawal}
        return _object((yield Request.of("POST", "/v1/cluster/withdrawals", body=body)))

    @operation
    def quarantine(self, limit: int | None = None) -> Steps[list[dict[str, Any]]]:
        """The tuples that could not be processed, with the reasons."""
        return listed((yield Request.of("GET", "/v1/quarantine", limit=limit)).json(), "tuples")

    @operation
    def audit(self, limit: int | None = None) -> Steps[list[dict[str, Any]]]:
        """Who has changed what."""
        return listed((yield Request.of("GET", "/v1/audit", limit=limit)).json(), "entries")


def _input(name: str) -> str:
    return f"/v1/inputs/{quote(name, safe='')}"


def _output(name: str) -> str:
    return f"/v1/outputs/{quote(name, safe='')}"


def _consumer(output: str, consumer: str) -> str:
    return f"{_output(output)}/consumers/{quote(consumer, safe='')}"


def _instant(given: Instant) -> str | int | None:
    if isinstance(given, datetime):
        if given.tzinfo is None:
            problem = Problem("time", f"{given} has no zone", "a datetime with tzinfo")
            raise ServiceError(ErrorCode.INVALID_REQUEST, problem)
        return given.isoformat()
    return given


def _end(answer: Answer) -> int | None:
    end = answer.json()["end"]
    return None if end is None else int(end)


def _object(answer: Answer) -> dict[str, Any]:
    return dict(answer.json())
