"""Volume over Arrow Flight: pushes in a pipeline, and the tuples of an output as they come.

Never used before a fork: a channel of gRPC does not survive one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import flight

from australis.client.place import Place
from australis.client.retries import Unreachable
from australis.client.tuples import Receipt
from australis.client.wire import error_of
from australis.errors import ErrorCode, Problem, ServiceError

_UNDER_WAY = 8
"""How many batches may be under way before an acknowledgement is waited for."""
_GONE = (flight.FlightUnavailableError, flight.FlightTimedOutError, flight.FlightCancelledError)


@dataclass(frozen=True)
class Piece:
    """Tuples of an output, or the numbers of those that are not kept any more."""

    table: pa.Table | None
    following: int
    """The number from which to read on."""
    missed: tuple[int, int] | None = None


class Volume:
    """A connection to the Flight door of a node."""

    def __init__(self, place: Place, address: str) -> None:
        self._options = flight.FlightCallOptions(
            headers=[(b"authorization", f"Bearer {place.token}".encode())] if place.token else []
        )
        more: dict[str, Any] = {}
        if place.is_loopback:
            # No proxy can reach this machine.
            more["generic_options"] = [("grpc.enable_http_proxy", 0)]
        if place.ca is not None:
            more["tls_root_certs"] = Path(place.ca).read_bytes()
        self._address = located(place, address)
        self._client = flight.connect(self._address, **more)

    def close(self) -> None:
        """Hang up."""
        # The node may have hung up already.
        with suppress(pa.ArrowException):
            self._client.close()

    def push(self, name: str, parts: Sequence[pa.Table], source: str, number: int) -> Receipt:
        """Push tables, each as a batch, numbered from `number` on; the node takes each number once."""
        descriptor = flight.FlightDescriptor.for_command(json.dumps({"input": name, "source": source}))
        with self._told():
            writer, acknowledged = self._client.do_put(descriptor, parts[0].schema, self._options)
            with writer:
                known = _metadata(acknowledged.read())["last"]
                return self._sent(writer, acknowledged, parts, number, -1 if known is None else int(known))

    def _sent(
        self, writer: Any, acknowledged: Any, parts: Sequence[pa.Table], number: int, known: int
    ) -> Receipt:
        done, waiting = Receipt(0, repeated=True), 0
        for own, part in enumerate(parts, number):
            if own <= known:
                continue
            # A batch is stored as a whole, with its number.
            (batch,) = part.combine_chunks().to_batches() or [_empty(part)]
            writer.write_with_metadata(batch, json.dumps({"number": own}).encode())
            waiting += 1
            if waiting >= _UNDER_WAY:
                done, waiting = done + _receipt(acknowledged), waiting - 1
        writer.done_writing()
        for _ in range(waiting):
            done += _receipt(acknowledged)
        return done

    def pieces(self, ticket: dict[str, Any], hanging: Hanging) -> Iterator[Piece]:
        """The tuples of an output or a point, as the ticket says."""
        with self._told():
            reader = self._client.do_get(flight.Ticket(json.dumps(ticket)), self._options)
            hanging.hold(reader)
            try:
                while True:
                    chunk = next_chunk(reader)
                    if chunk is None:
                        return
                    told = _metadata(chunk.app_metadata) if chunk.app_metadata is not None else {}
                    table = None if chunk.data is None else pa.Table.from_batches([chunk.data])
                    missed = told.get("missed")
                    if missed is not None:
                        yield Piece(None, int(missed[1]), (int(missed[0]), int(missed[1])))
                    if table is not None and table.num_rows:
                        yield Piece(table, int(told.get("next") or _after(table)))
            finally:
                hanging.let_go()
                reader.cancel()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raise what the service says, or that it cannot be reached."""
        try:
            yield
        except flight.FlightError as error:
            told = _extra(error)
            if told is not None:
                raise error_of(told) from None
            if isinstance(error, _GONE):
                raise Unreachable(_first_line(error), arrived=True) from None
            code = (
                ErrorCode.UNAUTHENTICATED
                if isinstance(error, flight.FlightUnauthenticatedError)
                else ErrorCode.INTERNAL
            )
            raise ServiceError(code, Problem("", _first_line(error))) from None
        except (pa.ArrowException, OSError, EOFError) as error:
            raise Unreachable(_first_line(error), arrived=True) from None


class Hanging:
    """A call that another thread can end."""

    def __init__(self) -> None:
        self._lock, self.is_over = threading.Lock(), False
        self._reader: Any = None

    def hold(self, reader: Any) -> None:
        """This is the call."""
        with self._lock:
            self._reader = reader
            if self.is_over:
                reader.cancel()

    def let_go(self) -> None:
        """There is no call."""
        with self._lock:
            self._reader = None

    def end(self) -> None:
        """End it, now and for good."""
        with self._lock:
            self.is_over = True
            if self._reader is not None:
                self._reader.cancel()


def next_chunk(reader: Any) -> Any:
    """The next batch of a call, or None at its end."""
    try:
        return reader.read_chunk()
    except StopIteration:
        # The end of the call, which the caller looks for.
        return None


def located(place: Place, address: str) -> str:
    """The address of Flight as this machine reaches it: the host is that of the URL.

    >>> located(Place.of("http://127.0.0.1:8400"), "grpc://0.0.0.0:8401")
    'grpc://127.0.0.1:8401'
    """
    parts = urlsplit(address if "://" in address else f"grpc://{address}")
    scheme = "grpc+tls" if place.is_secure else "grpc"
    host = f"[{place.host}]" if ":" in place.host else place.host
    return f"{scheme}://{host}:{parts.port}"


def _receipt(acknowledged: Any) -> Receipt:
    told = _metadata(acknowledged.read())
    return Receipt(int(told.get("accepted", 0)), end=told.get("end"), repeated=bool(told.get("repeated")))


def _metadata(buffer: Any) -> dict[str, Any]:
    if buffer is None:
        raise EOFError("the node has ended the call")
    told: dict[str, Any] = json.loads(buffer.to_pybytes())
    if "error" in told:
        # Nothing that was sent is acknowledged any more; the call ends with the same error.
        raise error_of(told["error"])
    return told


def _extra(error: flight.FlightError) -> dict[str, Any] | None:
    try:
        told = json.loads(error.extra_info)
    except (ValueError, TypeError):
        # The error is not one of the node's own, and is raised as it is.
        return None
    found = told.get("error", told) if isinstance(told, dict) else None
    return found if isinstance(found, dict) and "code" in found else None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


def _after(table: pa.Table) -> int:
    return int(table["#seq"][-1].as_py()) + 1


def _empty(table: pa.Table) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=table.schema)
