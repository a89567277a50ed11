"""The state of everything, once a second, for pictures that move."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect

from australis.engine import Node, Statistics
from australis.errors import AustralisError
from australis.service.http.context import TheHost, Viewer
from australis.service.http.routes.following import subprotocol_of
from australis.service.http.working import reading

router = APIRouter(prefix="/v1", tags=["live"])
EVERY_S, EVERY_LEAST_S = 1.0, 0.2


@router.websocket("/live")
async def live(
    connection: WebSocket,
    host: TheHost,
    caller: Viewer,
    every: Annotated[float, Query(ge=EVERY_LEAST_S, le=3600)] = EVERY_S,
) -> None:
    """Rates, queues, delays and utility of everything; a client that is slow gets the latest, not all."""
    await connection.accept(subprotocol_of(connection))
    sending = asyncio.create_task(_send(connection, host, every))
    try:
        while (await connection.receive())["type"] == "websocket.receive":
            continue
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def _send(connection: WebSocket, host: Any, every_s: float) -> None:
    sampler = Sampler()
    try:
        while not host.stopping.is_set():
            # Made when the one before is on its way: what is slow skips samples, and never queues them.
            sample = await reading(lambda: sampler.sample(host.running, str(host.state)))
            await connection.send_text(json.dumps(sample))
            await asyncio.sleep(every_s)
        await connection.close(1001)
    except WebSocketDisconnect:
        # The client has gone, which the other task hears as well.
        return


class Sampler:
    """Makes samples: counts as they are, and rates since the sample before."""

    def __init__(self) -> None:
        self._before: tuple[float, Statistics] | None = None

    def sample(self, node: Node | None, state: str) -> dict[str, Any]:
        """The state of everything now."""
        if node is None:
            return {"state": state}
        try:
            known, now = node.statistics(), time.monotonic()
        except AustralisError as error:
            return {"state": state, "error": str(error)}
        before, self._before = self._before, (now, known)
        return {
            "state": state,
            "network": known.network,
            "log_end": known.log_end,
            **_told(known, now, before),
        }


def _told(known: Statistics, now: float, before: tuple[float, Statistics] | None) -> dict[str, Any]:
    since, old = before or (now, known)

    def rate(new: int, former: int) -> float | None:
        return None if now <= since else round(max(0, new - former) / (now - since), 1)

    return {
        "waiting": known.waiting,
        "bytes": known.bytes,
        "held_back": known.held_back,
        "inputs": {
            name: {"received": each.received, "rate": rate(each.received, _of(old.inputs, name, "received"))}
            for name, each in known.inputs.items()
        },
        "boxes": {
            name: {
                "received": each.received,
                "emitted": each.emitted,
                "rate": rate(each.received, _of(old.boxes, name, "received")),
                "cost_us": each.cost_us,
                "state_bytes": each.state_bytes,
            }
            for name, each in known.boxes.items()
        },
        "arcs": {
            name: {
                "waiting": each.waiting,
                "bytes": each.waiting_bytes,
                "oldest_us": each.oldest_us,
                "due": each.due,
                "due_oldest_us": each.due_oldest_us,
            }
            for name, each in known.queues.items()
        },
        "outputs": {
            name: {
                "tuples": each.tuples,
                "rate": rate(each.tuples, _of(old.outputs, name, "tuples")),
                "delay_ms_p50": each.delay_ms_p50,
                "delay_ms_p95": each.delay_ms_p95,
                "utility": each.utility,
                "fraction": each.fraction,
                "shed": each.shed,
            }
            for name, each in known.outputs.items()
        },
        "dropboxes": len(known.standing),
    }


def _of(known: Any, name: str, count: str) -> int:
    return int(getattr(known[name], count)) if name in known else 0
