"""Breakpoints: where the node pauses before a tuple that satisfies a predicate."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from australis.errors import ErrorCode
from australis.service.host import plain
from australis.service.http.context import Operator, TheHost, Viewer
from australis.service.http.errors import documented

router = APIRouter(prefix="/v1/breakpoints", tags=["breakpoints"])
Name = Annotated[str, Path(pattern="^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]


class BreakpointRequest(BaseModel, extra="forbid", strict=True):
    """A predicate on an arc."""

    arc: str
    where: str = Field("true", max_length=10_000)


class Stop(BaseModel):
    """Where the node waits: the tuple, and the superbox whose next train takes it."""

    superbox: str
    seq: int
    tuple: dict[str, Any]


class Breakpoint(BaseModel):
    """A breakpoint, and what came of it so far."""

    name: str
    arc: str
    where: str
    stops: int
    """How often it has paused the node."""
    stop: Stop | None
    """Where it has, if the node still waits there."""
    problem: str
    """Why it can pause nothing in the network that runs now; empty if it can."""


class BreakpointList(BaseModel):
    """Every breakpoint."""

    breakpoints: list[Breakpoint]


class Removed(BaseModel):
    """Whether there was such a breakpoint."""

    removed: bool


def _listed(host: TheHost) -> list[Breakpoint]:
    found = host.deployed.breakpoints()
    return [Breakpoint(name=name, **plain(each)) for name, each in found.items()]


@router.get("", responses=documented(ErrorCode.CONFLICT))
def every(host: TheHost, caller: Viewer) -> BreakpointList:
    """Every breakpoint, and where the node waits now."""
    return BreakpointList(breakpoints=_listed(host))


@router.put("/{name}", responses=documented(ErrorCode.CONFLICT))
def put(host: TheHost, caller: Operator, name: Name, given: BreakpointRequest) -> Breakpoint:
    """Pause before the train that would take a tuple that satisfies a predicate; `resume` or `step` goes on.

    It replaces the breakpoint of its name. It lasts until the node stops, and ad hoc queries do not heed it.
    """
    node = host.deployed
    node.set_breakpoint(name, given.arc, given.where)
    return Breakpoint(name=name, **plain(node.breakpoints()[name]))


@router.delete("/{name}", responses=documented(ErrorCode.CONFLICT))
def remove(host: TheHost, caller: Operator, name: Name) -> Removed:
    """Remove a breakpoint; a node that has paused there stays paused."""
    return Removed(removed=host.deployed.remove_breakpoint(name))
