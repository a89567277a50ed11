"""What driver and workers send each other: that a worker is ready, and the order for a share."""

from __future__ import annotations

from collections.abc import Iterator

from australis.engine.worker import Waybill

READY = b"R"
"""What a worker sends once, when it has loaded what it needs; no answer is that short."""
_INDEX_BYTES = 4


def orders(waybill: Waybill) -> Iterator[bytes]:
    """The order of each share: its index, then the waybill."""
    text = waybill.to_json().encode()
    return (index.to_bytes(_INDEX_BYTES, "big") + text for index in range(len(waybill.shares)))


def share_of(order: bytes) -> tuple[Waybill, int]:
    """The waybill of an order, and the index of its share."""
    index = int.from_bytes(order[:_INDEX_BYTES], "big")
    return Waybill.from_json(order[_INDEX_BYTES:].decode()), index
