"""A worker: runs shares of trains, one after the other, as the driver sends them."""

from __future__ import annotations

import traceback
from multiprocessing.connection import Connection

from australis.engine.light.orders import fault, share_of
from australis.engine.worker import Manifest, Task, answer


def work(driver: Connection) -> None:
    """Serve until the driver ends the connection."""
    while True:
        try:
            order = driver.recv_bytes()
        except EOFError:
            # The driver needs no more.
            return
        driver.send_bytes(_answer(order))


def _answer(order: bytes) -> bytes:
    try:
        return answer(lambda: _run(order))
    except Exception as error:
        traceback.print_exc()
        return fault(error)


def _run(order: bytes) -> Manifest:
    waybill, index = share_of(order)
    return Task(waybill, waybill.shares[index], index).run()
