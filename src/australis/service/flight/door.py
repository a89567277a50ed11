"""The server of Flight: checks who calls, and hands each call on."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import flight

from australis.algebra.network import QUARANTINE
from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.access import Access, Role
from australis.service.fanout import Fanout
from australis.service.flight.callers import KEY, Callers
from australis.service.flight.connections import Patience, cut
from australis.service.flight.errors import told
from australis.service.flight.getting import history_tables, output_batches, output_schema
from australis.service.flight.putting import Put, refused
from australis.service.flight.tickets import command_of, parsed
from australis.service.host import Host
from australis.service.settings import ServiceSettings, place_of

_log = logging.getLogger(__name__)
_END_S = 2.0
"""How long calls have to end when the service does: then their connections are cut."""


class FlightDoor:
    """Flight, served beside HTTP with the same rules."""

    def __init__(self, host: Host, access: Access, settings: ServiceSettings, fanout: Fanout) -> None:
        self._host, self._access, self._settings, self._fanout = host, access, settings, fanout
        self._server: _Server | None = None
        self.address: str | None = None
        """Where it listens, once it does."""

    def start(self, beside: int | None = None) -> str:
        """Listen; `beside` is the port of HTTP, after which that of Flight comes if nothing else is set."""
        host, port = self._place(beside)
        tls = self._settings.tls
        scheme = "grpc" if tls.certificate is None else "grpc+tls"
        shown = f"[{host}]" if ":" in host else host
        certificates = None
        if tls.certificate is not None and tls.key is not None:
            certificates = [flight.CertKeyPair(tls.certificate.read_bytes(), tls.key.read_bytes())]
        callers = Callers(self._access, self._settings.flight.calls, self._host.traces)
        try:
            self._server = _Server(
                f"{scheme}://{shown}:{port}",
                certificates,
                callers,
                _Parts(self._host, self._fanout, self._settings.access.limits.body_bytes),
                Patience(self._settings.flight.patience_s),
            )
        except (pa.ArrowException, OSError) as error:
            hint = "another port in flight.listen, or flight.enabled: false"
            problem = Problem("flight.listen", f"cannot listen on {shown}:{port}: {error}", hint)
            raise ServiceError(ErrorCode.INVALID_REQUEST, problem) from None
        watching = partial(self._server.patience.watch, self._server.port)
        threading.Thread(target=watching, name="australis-flight-watch", daemon=True).start()
        self.address = f"{scheme}://{shown}:{self._server.port}"
        return self.address

    def _place(self, beside: int | None) -> tuple[str, int]:
        given = self._settings.flight.listen
        if given is not None:
            return place_of(given, "flight.listen")
        host, port = self._settings.place
        return host, 0 if port == 0 or beside is None else beside + 1

    def close(self) -> None:
        """Take no more calls, and end those that wait."""
        server, self._server = self._server, None
        if server is None:
            return
        server.is_closing = True
        ending = threading.Thread(target=server.shutdown, name="australis-flight-end", daemon=True)
        ending.start()
        ending.join(_END_S)
        while ending.is_alive():
            _log.info("%d connections of Flight are cut: they take nothing", cut(server.port))
            ending.join(_END_S)
        server.patience.close()


class _Parts:
    """What calls are about."""

    def __init__(self, host: Host, fanout: Fanout, bytes_most: int) -> None:
        self.host, self.fanout, self.bytes_most = host, fanout, bytes_most


class _Server(flight.FlightServerBase):  # type: ignore[misc]
    """The calls of Flight; each runs in a thread of gRPC."""

    def __init__(
        self, location: str, certificates: Any, callers: Callers, parts: _Parts, patience: Patience
    ) -> None:
        self._callers, self._parts, self.patience = callers, parts, patience
        self.is_closing = False
        super().__init__(location, tls_certificates=certificates, middleware={KEY: callers})

    @property
    def calls(self) -> int:
        """How many calls are under way that may last."""
        return self._callers.calls

    # --- in

    def do_put(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:
        """Store the batches of a client."""
        with told():
            self._callers.caller(context, Role.OPERATOR)
            command = command_of(descriptor, "input")
            name, host = command["input"], self._parts.host
            span = self._callers.span(context)
            span.note({"australis.input": name})
            network = host.deployed.network()
            if name not in network.inputs:
                known = ", ".join(network.inputs)
                problem = Problem(f"{network.name}.{name}", f"there is no input {name!r}", f"one of {known}")
                raise ServiceError(ErrorCode.NOT_FOUND, problem)
            self._callers.enter(context)
            try:
                put = Put(host, name, command.get("source"), writer, span)
                put.run(reader, self._parts.bytes_most)
            except pa.ArrowException as error:
                if isinstance(error, flight.FlightError):
                    raise
                # The client has gone, or what it sends is no Arrow.
                raise refused(_no_stream(error)) from error

    # --- out

    def do_get(self, context: Any, ticket: Any) -> Any:
        """Send an output, or history."""
        with told():
            self._callers.caller(context, Role.VIEWER)
            given, node = parsed(ticket.ticket, "output", "point"), self._parts.host.deployed
            if "point" in given:
                schema, tables = history_tables(node, given)
                batches = ((batch, b"{}") for table in tables for batch in table.to_batches())
                return self._stream(schema, batches, context)
            if given.get("consumer"):
                self._callers.caller(context, Role.OPERATOR)
            schema = output_schema(node, given["output"])
            self._check_begin(node, given)

            def is_over() -> bool:
                return self.is_closing or context.is_cancelled()

            found = output_batches(node, self._parts.fanout, given, is_over)
            return self._stream(schema, found, context)

    def _check_begin(self, node: Any, given: dict[str, Any]) -> None:
        """Refuse a number that is not there before the stream begins."""
        begin = given.get("from")
        if begin is not None and begin > node.log_end:
            hint = f"0 to {node.log_end:,}, the end of the log"
            problem = Problem(given["output"], f"there is no tuple with the number {begin:,} so far", hint)
            raise ServiceError(ErrorCode.INVALID_REQUEST, problem)

    def _stream(self, schema: pa.Schema, batches: Iterator[Any], context: Any) -> Any:
        self._callers.enter(context)
        return flight.GeneratorStream(schema, self._sent(batches, context.peer()))

    def _sent(self, batches: Iterator[Any], peer: str) -> Iterator[Any]:
        call = object()
        try:
            with told():
                for batch in batches:
                    self.patience.begin(call, peer)
                    yield batch
                    self.patience.end(call)
        finally:
            self.patience.end(call)

    # --- what there is

    def list_flights(self, context: Any, criteria: bytes) -> Iterator[Any]:
        """Inputs, outputs and connection points, with their schemas."""
        with told():
            self._callers.caller(context, Role.VIEWER)
            node = self._parts.host.deployed
            network = node.network()
            found = [("input", name) for name in network.inputs]
            found += [("output", name) for name in [*network.outputs, QUARANTINE]]
            found += [("point", name) for name in network.connection_points]
            return iter([self._info(node, network, kind, name) for kind, name in found])

    def get_flight_info(self, context: Any, descriptor: Any) -> Any:
        """One of them."""
        with told():
            self._callers.caller(context, Role.VIEWER)
            command = command_of(descriptor, "input", "output", "point")
            kind = next(each for each in ("input", "output", "point") if each in command)
            node = self._parts.host.deployed
            return self._info(node, node.network(), kind, command[kind])

    def _info(self, node: Any, network: Any, kind: str, name: str) -> Any:
        known = {"input": network.inputs, "point": network.connection_points}
        if kind in known and name not in known[kind]:
            hint = f"one of {', '.join(known[kind]) or 'none'}"
            problem = Problem(f"{network.name}.{name}", f"there is no {kind} {name!r}", hint)
            raise ServiceError(ErrorCode.NOT_FOUND, problem)
        if kind == "input":
            schema = network.inputs[name].arriving.arrow
        elif kind == "output":
            schema = output_schema(node, name)
        else:
            schema = network.schemas[network.connection_points[name].at].arrow_with_ts
        ticket = json.dumps({kind: name}).encode()
        endpoints = [] if kind == "input" else [flight.FlightEndpoint(ticket, [])]
        return flight.FlightInfo(schema, flight.FlightDescriptor.for_command(ticket), endpoints, -1, -1)


def _no_stream(error: Exception) -> ServiceError:
    problem = Problem("stream", f"is no Arrow stream: {error}", "record batches of one schema")
    return ServiceError(ErrorCode.INVALID_TUPLES, problem)
