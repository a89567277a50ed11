"""A worker: runs shares of trains, one after the other, as the driver sends them."""

from __future__ import annotations

from functools import partial
from multiprocessing.connection import Connection

from australis.engine.light.orders import READY, share_of
from australis.engine.worker import Manifest, Task, answer_or_fault


def work(driver: Connection) -> None:
    """Report that this worker is ready, then serve until the driver closes the connection."""
    driver.send_bytes(READY)
    while True:
        try:
            order = driver.recv_bytes()
        except (EOFError, ConnectionResetError):
            # The driver has closed the connection, or was killed.
            return
        answer = answer_or_fault(partial(_run, order))
        try:
            driver.send_bytes(answer)
        except (BrokenPipeError, ConnectionResetError):
            # The driver has ended meanwhile, and nobody waits for the answer.
            return


def _run(order: bytes) -> Manifest:
    waybill, index = share_of(order)
    return Task(waybill, waybill.shares[index], index).run()
