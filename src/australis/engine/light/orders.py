"""What driver and workers say to each other: the order of a share, and its answer or fault."""

from __future__ import annotations

from collections.abc import Iterator

from australis.engine.worker import Manifest, TrainFailed, Waybill, manifest_of
from australis.errors import Problem

_INDEX_BYTES = 4
_FAULT = b"X"


def orders(waybill: Waybill) -> Iterator[bytes]:
    """The order of each share: its index, then the waybill."""
    text = waybill.to_json().encode()
    return (index.to_bytes(_INDEX_BYTES, "big") + text for index in range(len(waybill.shares)))


def share_of(order: bytes) -> tuple[Waybill, int]:
    """The waybill of an order, and the index of its share."""
    index = int.from_bytes(order[:_INDEX_BYTES], "big")
    return Waybill.from_json(order[_INDEX_BYTES:].decode()), index


def fault(error: Exception) -> bytes:
    """What a task sends that failed in a way that nobody foresaw."""
    return _FAULT + f"{type(error).__name__}: {error}".encode()


def manifest(superbox: str, data: bytes) -> Manifest:
    """The manifest of an answer; raises the error, or the fault, that came instead."""
    if data[:1] == _FAULT:
        raise failed(superbox, data[1:].decode(errors="replace"))
    return manifest_of(data)


def failed(superbox: str, reason: str) -> TrainFailed:
    """A train that its workers could not finish."""
    return TrainFailed(Problem(superbox, f"its train failed: {reason[:500]}"))
