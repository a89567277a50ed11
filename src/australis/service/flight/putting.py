"""Tuples in: batches are read while those before them are stored, and acknowledged once they are durable."""

from __future__ import annotations

import json
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import flight

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.flight.errors import refusal
from australis.service.host import Host, check_size, push
from australis.service.tracing import Span

UNDER_WAY_BYTES = 32 << 20
"""About how many bytes of a call may have been read and not yet stored; beyond it, nothing more is read."""
TOGETHER_ROWS = 1_000_000
"""How many tuples are stored at once at most, where batches come faster than they are stored."""
WAIT_S = 30.0
"""How long a push waits for room on the disk before the call ends."""


@dataclass(frozen=True)
class Batch:
    """A batch of a call, and its number, if it has one."""

    table: pa.Table
    number: int | None


class Put:
    """One call that brings tuples."""

    def __init__(self, host: Host, name: str, source: str | None, writer: Any, span: Span) -> None:
        self._span = span
        self._host, self._name, self._source, self._writer = host, name, source, writer
        self._changed = threading.Condition()
        self._batches: deque[Batch] = deque()
        self._bytes = 0
        self._is_whole = False
        self._failure: Exception | None = None

    def run(self, reader: Any, bytes_most: int) -> None:
        """Store all batches of a reader, in their order; returns when all are acknowledged."""
        self._tell({"last": self._last()})
        storing = threading.Thread(target=self._store_all, name="australis-flight-put", daemon=True)
        storing.start()
        try:
            self._read_all(reader, bytes_most)
        finally:
            with self._changed:
                self._is_whole = True
                self._changed.notify_all()
            storing.join()
        if self._failure is not None:
            raise self._failure

    def _last(self) -> int | None:
        """The last number of the source that is stored."""
        known = None if self._source is None else self._host.deployed.position(self._source)
        return None if known is None or not known.lstrip("-").isdecimal() else int(known)

    def _tell(self, told: dict[str, Any]) -> None:
        self._writer.write(pa.py_buffer(json.dumps(told).encode()))

    # --- the call's own thread reads

    def _read_all(self, reader: Any, bytes_most: int) -> None:
        while True:
            try:
                chunk = reader.read_chunk()
            except StopIteration:
                # The client has sent all.
                return
            batch = Batch(_checked(chunk.data, bytes_most), self._number(chunk.app_metadata))
            with self._changed:
                while self._bytes > UNDER_WAY_BYTES and self._failure is None:
                    self._changed.wait()
                if self._failure is not None:
                    return
                self._batches.append(batch)
                self._bytes += batch.table.nbytes
                self._changed.notify_all()

    def _number(self, metadata: pa.Buffer | None) -> int | None:
        """The number of a batch; with a source each one needs it."""
        try:
            given = json.loads(metadata.to_pybytes()) if metadata is not None else {}
            number = given.get("number")
            is_right = number is None or (type(number) is int and abs(number) < 1 << 62)
            if not is_right or (number is None and self._source is not None):
                raise ValueError
        except (ValueError, AttributeError, RecursionError):
            hint = '{"number": N}, with N above that of the batch before'
            problem = Problem("app_metadata", "has no number", hint)
            raise ServiceError(ErrorCode.INVALID_REQUEST, problem) from None
        return None if number is None else int(number)

    # --- another one stores

    def _store_all(self) -> None:
        try:
            while batches := self._next():
                self._store(batches)
        except Exception as error:
            # It is raised by the thread of the call, once the client sends no more.
            with self._changed:
                self._failure = error
                self._changed.notify_all()
            self._tell_failure(error)

    def _tell_failure(self, error: Exception) -> None:
        """Tell a client that may wait for an acknowledgement before it sends more that none will come."""
        detail = json.loads(refused(error).extra_info or b"{}")
        # The client may be what has failed.
        with suppress(pa.ArrowException, OSError):
            self._tell({"error": detail})

    def _next(self) -> list[Batch]:
        """The batches that have come meanwhile, as far as they are stored together; none at the end."""
        with self._changed:
            while not self._batches and not self._is_whole:
                self._changed.wait()
            found: list[Batch] = []
            rows = 0
            while self._batches and (not found or rows + self._batches[0].table.num_rows <= TOGETHER_ROWS):
                found.append(self._batches.popleft())
                rows += found[-1].table.num_rows
            self._bytes -= sum(each.table.nbytes for each in found)
            self._changed.notify_all()
            return found

    def _store(self, batches: list[Batch]) -> None:
        last = self._last()
        known = [b for b in batches if last is not None and b.number is not None and b.number <= last]
        fresh = batches[len(known) :]
        end = self._host.deployed.log_end
        for batch in known:
            self._tell({"number": batch.number, "end": end, "repeated": True, "accepted": 0, "rejected": 0})
        if not fresh:
            return
        number = fresh[-1].number
        position = None if self._source is None or number is None else (self._source, number)
        table = pa.concat_tables([batch.table for batch in fresh])
        receipt = push(self._host, self._name, table, position=position, wait_s=WAIT_S, within=self._span)
        for batch in fresh:
            # Rows that did not fit are counted with the last of those that were stored together.
            rejected = receipt.rejected if batch is fresh[-1] else 0
            told = {
                "number": batch.number,
                "end": end if receipt.end is None else receipt.end,
                "repeated": receipt.is_repeated,
                "accepted": 0 if receipt.is_repeated else max(0, batch.table.num_rows - rejected),
                "rejected": rejected,
            }
            self._tell(told)


def _checked(batch: pa.RecordBatch | None, bytes_most: int) -> pa.Table:
    """A batch as a table, once it was looked through: it comes from elsewhere."""
    if batch is None:
        raise ServiceError(ErrorCode.INVALID_TUPLES, Problem("batch", "is missing", "a record batch"))
    if batch.nbytes > bytes_most:
        hint = f"at most {bytes_most:,}; access.limits.body_bytes is the setting"
        raise ServiceError(ErrorCode.TOO_LARGE, Problem("batch", f"has {batch.nbytes:,} bytes", hint))
    try:
        batch.validate(full=True)
    except pa.ArrowException as error:
        what = f"is damaged: {error}"
        problem = Problem("batch", what, "Arrow data as it was made")
        raise ServiceError(ErrorCode.INVALID_TUPLES, problem) from None
    table = pa.Table.from_batches([batch])
    check_size("batch", table, bytes_most)
    return table


def refused(error: Exception) -> flight.FlightError:
    """What the client of a call is told."""
    return error if isinstance(error, flight.FlightError) else refusal(error)
