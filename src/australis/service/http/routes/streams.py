"""What moves the streams without tuples: promises, ends, refreshed tables, positions of consumers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Path
from pydantic import BaseModel, Field

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.fanout import CONSUMER as WINDOW
from australis.service.host import Host, inputs, one, outputs
from australis.service.http.context import Operator, Pusher, TheHost, Viewer
from australis.service.http.errors import documented

router = APIRouter(prefix="/v1", tags=["streams"])


class Promise(BaseModel, extra="forbid", strict=True, allow_inf_nan=False):
    """No later tuple is below this value of the input's progress attribute."""

    value: int | float | str


class LogEnd(BaseModel):
    """The number with which the next event of the log begins."""

    end: int | None


_ANSWERS = documented(ErrorCode.CONFLICT, ErrorCode.NOT_FOUND)


@router.post("/inputs/{name}/promise", responses=_ANSWERS)
def promise(host: TheHost, caller: Pusher, name: str, given: Promise) -> LogEnd:
    """Promise that no later tuple of an input is below a value; to repeat that is harmless."""
    one(inputs(host), "input", name)
    return LogEnd(end=host.deployed.promise(name, given.value))


@router.post("/flush", responses=documented(ErrorCode.CONFLICT, ErrorCode.KEY_REUSED))
def flush(
    host: TheHost, caller: Operator, idempotency_key: Annotated[str | None, Header(max_length=200)] = None
) -> LogEnd:
    """End all streams: buffers are released, and windows closed."""
    end = host.once.do((caller.name, idempotency_key), "flush", host.deployed.flush)
    return LogEnd(end=end)


@router.post("/tables/{name}/refresh", responses=_ANSWERS)
def refresh(host: TheHost, caller: Operator, name: str) -> LogEnd:
    """Read the store of an input again; the new rows apply after the end of the log that is returned."""
    one(inputs(host), "input", name)
    return LogEnd(end=host.deployed.refresh(name))


# --- consumers with a name

ConsumerName = Annotated[str, Path(min_length=1, max_length=200)]


class ConsumerPosition(BaseModel, extra="forbid", strict=True):
    """How far a consumer has read an output."""

    seq: int = Field(ge=0, le=1 << 62)
    """The number after its last tuple."""
    position: str | None = Field(default=None, max_length=10_000)
    """Its own note of it."""


class Consumer(BaseModel):
    """A consumer of an output, for which the output keeps what it has not acknowledged."""

    name: str
    seq: int
    """The number after its last tuple."""
    behind: int
    """How many numbers of the log it is behind what the output has."""


class ConsumerList(BaseModel):
    """The consumers of an output."""

    consumers: list[Consumer]


class Forgotten(BaseModel):
    """Whether a consumer is forgotten."""

    removed: bool


@router.get("/outputs/{name}/consumers", responses=_ANSWERS)
def consumers(host: TheHost, caller: Viewer, name: str) -> ConsumerList:
    """The consumers of an output, and how far they are behind."""
    return ConsumerList(consumers=_consumers(host, name))


@router.get("/outputs/{name}/consumers/{consumer}", responses=_ANSWERS)
def consumer_seen(host: TheHost, caller: Viewer, name: str, consumer: ConsumerName) -> Consumer:
    """How far a consumer has come; nothing is changed by this."""
    found = _consumers(host, name)
    for each in found:
        if each.name == consumer:
            return each
    known = ", ".join(each.name for each in found) or "none"
    problem = Problem(name, f"has no consumer {consumer!r}", f"one of {known}; POST makes one")
    raise ServiceError(ErrorCode.NOT_FOUND, problem)


def _consumers(host: Host, name: str) -> list[Consumer]:
    one(outputs(host), "output", name)
    found = host.deployed.consumers(name).items()
    return [Consumer(name=each, seq=seq, behind=behind) for each, (seq, behind) in found if each != WINDOW]


@router.post("/outputs/{name}/consumers/{consumer}", responses=_ANSWERS)
def consumer_position(host: TheHost, caller: Pusher, name: str, consumer: ConsumerName) -> ConsumerPosition:
    """How far a consumer has come, and its note; for one that was not known, tuples are kept from now on."""
    one(outputs(host), "output", name)
    seq, position = host.deployed.consumer(consumer, name)
    return ConsumerPosition(seq=seq, position=position)


@router.put("/outputs/{name}/consumers/{consumer}", responses=_ANSWERS)
def acknowledge(
    host: TheHost, caller: Pusher, name: str, consumer: ConsumerName, given: ConsumerPosition
) -> ConsumerPosition:
    """Acknowledge all tuples before a number; a position never goes back."""
    one(outputs(host), "output", name)
    node = host.deployed
    node.acknowledge(consumer, name, given.seq, given.position)
    seq, position = node.consumer(consumer, name)
    return ConsumerPosition(seq=seq, position=position)


@router.delete("/outputs/{name}/consumers/{consumer}", responses=_ANSWERS)
def forget(host: TheHost, caller: Operator, name: str, consumer: ConsumerName) -> Forgotten:
    """Keep nothing for a consumer that will not return."""
    one(outputs(host), "output", name)
    host.deployed.forget(consumer, name)
    return Forgotten(removed=True)
