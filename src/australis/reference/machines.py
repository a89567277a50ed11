"""From a box to the machine that runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from australis.algebra.boxes import (
    Aggregate,
    Box,
    BSort,
    Drop,
    Filter,
    Join,
    Map,
    Resample,
    Tumble,
    Union,
    WSort,
)
from australis.algebra.schema import Schema
from australis.errors import KernelError, Problem
from australis.reference.boxes import (
    AggregateMachine,
    BSortMachine,
    DropMachine,
    FilterMachine,
    JoinMachine,
    MapMachine,
    ResampleMachine,
    TumbleMachine,
    UnionMachine,
    WSortMachine,
)
from australis.reference.machine import Machine

Schemas = tuple[Schema, ...]

MACHINES: dict[type[Box], Callable[[Any, Schemas, str], Machine]] = {
    Filter: FilterMachine,
    Map: MapMachine,
    Union: UnionMachine,
    BSort: BSortMachine,
    WSort: WSortMachine,
    Aggregate: AggregateMachine,
    Tumble: TumbleMachine,
    Join: JoinMachine,
    Resample: ResampleMachine,
    Drop: DropMachine,
}
"""The machine of every core box."""


def machine_of(box: Box, schemas: Schemas, timezone: str = "UTC") -> Machine:
    """A machine that runs a box on inputs of these schemas, from the beginning."""
    made = MACHINES.get(type(box.core))
    if made is None:
        raise KernelError(Problem("", f"no machine runs a {box.core.kind}", "an entry in MACHINES"))
    return made(box.core, schemas, timezone)
