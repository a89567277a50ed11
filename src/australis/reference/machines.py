"""From a box to the machine that runs it."""

from __future__ import annotations

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

MACHINES: dict[type[Box], Any] = {
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


def machine_of(box: Box, schemas: tuple[Schema, ...], timezone: str = "UTC") -> Machine:
    """A machine that runs a box on inputs of these schemas, from the beginning."""
    machine: Machine = MACHINES[type(box.core)](box.core, schemas, timezone)
    return machine
