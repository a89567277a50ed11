"""The gate: what every request passes before a route sees it, and what is noted of it afterwards."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi.requests import HTTPConnection
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.http.context import Context, presented
from australis.service.http.errors import answer
from australis.service.http.pages import is_page
from australis.service.tracing import NOT_TRACED, Span

_log = logging.getLogger(__name__)
OPEN = frozenset({"/healthz", "/readyz"})
"""What needs no token."""
DESCRIPTION = frozenset({"/v1/openapi.json", "/v1/docs"})
"""What needs none on loopback."""
BODY_WAIT_S = 30.0
"""How long the next part of a body may take to come."""
PATIENCE_S = 60.0
"""For how long a client may take nothing of an answer."""
PIECE_BYTES = 1 << 18
"""Answers are sent in such pieces: the server does not buffer what the client has not taken."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_REFUSED_SOCKET = 1008
_OUR_FAULT = 500
TRACED = "/v1/"
"""How the paths begin whose calls are traced."""


class Gate:
    """Checks name, origin, caller, rate, number and size of calls; logs them, and notes changes."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app, self._context = app, context
        self._access, self._limits = context.access, context.access.limits
        self.measured, self.traces = context.measured, context.host.traces
        self._calls = self._streams = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        call = _Call(scope, send, self)
        try:
            self._admit(call, HTTPConnection(scope))
            body = _Body(receive, self._limits.body_bytes) if call.is_http else receive
            await self._app(scope, body, call.send)
        except ServiceError as error:
            await call.refuse(error, receive)
        except Exception:
            # The server closes the connection of an answer that is not whole.
            if not call.is_given_up:
                raise
        finally:
            self.leave(call)
            call.log()

    def _admit(self, call: _Call, connection: HTTPConnection) -> None:
        headers = connection.headers
        self._access.origins.check(headers.get("host"), headers.get("origin"))
        path = connection.url.path
        # The editor's page is where a token is entered, so it comes without one, and has nothing of the node.
        is_open = path in OPEN or (connection.scope["type"] == "http" and is_page(path))
        if not is_open and not (path in DESCRIPTION and self._context.is_on_loopback):
            connection.state.caller = call.caller = self._access.caller(presented(headers))
        if (headers.get("content-length") or "0").isdecimal():
            _check_size(int(headers.get("content-length") or 0), self._limits.body_bytes)
        if not is_open:
            # Who needs no token takes no place of those who do, and health is told however busy it is.
            self._enter(call)

    def _enter(self, call: _Call) -> None:
        if not call.is_http:
            self.become_stream(call)
            return
        if self._calls >= self._limits.calls:
            raise _too_many(f"{self._calls} calls are under way", "access.limits.calls")
        self._calls, call.held = self._calls + 1, "call"

    def become_stream(self, call: _Call) -> None:
        """Count a call as a stream from now on: it may last as long as the service."""
        if self._streams >= self._limits.streams:
            raise _too_many(f"{self._streams} streams are open", "access.limits.streams")
        self.leave(call)
        self._streams, call.held, call.is_stream = self._streams + 1, "stream", True

    def leave(self, call: _Call) -> None:
        """Count a call no longer."""
        self._calls -= call.held == "call"
        self._streams -= call.held == "stream"
        call.held = ""

    async def note(self, call: _Call) -> None:
        """Note a change in the audit log, before the caller hears of it."""
        state, audit = call.scope["state"], self._context.audit
        if audit is None or not state.get("is_change"):
            return
        client = call.scope.get("client")
        line = {
            "request": call.id,
            "caller": state["caller"].name,
            "role": state["caller"].role,
            "client": client[0] if client else None,
            "method": call.scope["method"],
            "path": call.scope["path"],
            "status": call.status,
            **state.get("audited", {}),
        }
        try:
            await asyncio.to_thread(audit.note, line)
        except OSError as error:
            # The change is made: to call it failed would be wrong.
            _log.error("the audit log cannot be written: %s; lost: %s", error, line)


class _Call:
    """One request, or one WebSocket."""

    def __init__(self, scope: Scope, send: Send, gate: Gate) -> None:
        self.scope, self._send, self._gate = scope, send, gate
        self.is_http, self.held, self.status = scope["type"] == "http", "", 0
        self.is_stream = self.is_given_up = False
        self.caller: Any = None
        self._began = time.perf_counter()
        given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        self.id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = self.id
        # A route says so before it begins: once an answer has begun, nothing can be refused.
        scope["state"]["become_stream"] = partial(gate.become_stream, self)
        self.span = scope["state"]["span"] = self._traced()

    def _traced(self) -> Span:
        """The call as a span; probes and the editor's page are none."""
        path, method = self.scope["path"], self.scope.get("method", "WS")
        if not path.startswith(TRACED):
            return NOT_TRACED
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in self.scope["headers"]}
        facts = {"http.request.method": method, "url.path": path, "australis.request": self.id}
        return self._gate.traces.begin(method, headers, facts)

    async def send(self, message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.accept"):
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", self.id.encode())]
        if message["type"] == "http.response.start":
            self.status = message["status"]
            await self._gate.note(self)
        if message["type"] == "http.response.body":
            await self._send_body(message.get("body", b""), is_last=not message.get("more_body", False))
        else:
            await self._send(message)

    async def _send_body(self, body: bytes, *, is_last: bool) -> None:
        """Send a body, or a part of it, as fast as the client takes it."""
        for begin in range(0, max(len(body), 1), PIECE_BYTES):
            end = begin + PIECE_BYTES
            more = not is_last or end < len(body)
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self._send(
                        {"type": "http.response.body", "body": body[begin:end], "more_body": more}
                    )
            except TimeoutError:
                self.is_given_up = True
                raise

    async def refuse(self, error: ServiceError, receive: Receive) -> None:
        """Answer with an error, without any route."""
        response = answer(error)
        if self.is_http:
            await response(self.scope, receive, self.send)
            return
        # A socket that is not open yet is refused as a request is, where the server can do that.
        self.status = response.status_code
        if "websocket.http.response" not in self.scope.get("extensions", {}):
            await self._send({"type": "websocket.close", "code": _REFUSED_SOCKET, "reason": error.code})
            return
        start = {"status": self.status, "headers": response.raw_headers}
        await self._send({"type": "websocket.http.response.start", **start})
        await self._send({"type": "websocket.http.response.body", "body": response.body})

    def log(self) -> None:
        """Log the request: never its query or headers, which may hold secrets."""
        took_s = time.perf_counter() - self._began
        self._gate.measured.note(self.scope, self.status, took_s, is_stream=self.is_stream)
        took_ms = took_s * 1000
        name = self.caller.name if self.caller else "-"
        method = self.scope.get("method", "WS")
        # Quoted, or a line break in a path would begin a line of the caller's own.
        path = quote(self.scope["path"])
        _log.info("%s %s %s %d %.1f ms %s", self.id, method, path, self.status, took_ms, name)
        route = getattr(self.scope.get("route"), "path", "")
        self.span.note({"http.response.status_code": self.status, "http.route": route, "enduser.id": name})
        failure = f"answered with {self.status}" if self.status >= _OUR_FAULT else ""
        self.span.end(f"{method} {route}" if route else "", failure=failure)


class _Body:
    """Receives a body, up to a size and without long pauses."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._most, self._size, self._is_whole = receive, most, 0, False

    async def __call__(self) -> Message:
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout(BODY_WAIT_S):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(400, f"the body did not continue for {BODY_WAIT_S:g} s") from None
        self._size += len(message.get("body", b""))
        self._is_whole = not message.get("more_body")
        if self._size > self._most:
            raise HTTPException(413, f"the body has more than {self._most:,} bytes")
        return message


def _check_size(size: int, most: int) -> None:
    if size > most:
        hint = f"at most {most:,}, in several requests; access.limits.body_bytes is the setting"
        raise ServiceError(ErrorCode.TOO_LARGE, Problem("body", f"has {size:,} bytes", hint))


def _too_many(what: str, setting: str) -> ServiceError:
    hint = f"the same in a moment; {setting} is the limit"
    return ServiceError(ErrorCode.TOO_MANY, Problem("", what, hint), 1)
