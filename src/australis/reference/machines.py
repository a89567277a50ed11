"""From a box to the machine that runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from australis.algebra.boxes import (
    Aggregate,
    AsOf,
    Box,
    BSort,
    Changes,
    Distinct,
    Drop,
    Filter,
    Join,
    Lag,
    Map,
    Number,
    Resample,
    Top,
    Tumble,
    Union,
    Unnest,
    WSort,
)
from australis.algebra.schema import Schema
from australis.errors import KernelError, Problem
from australis.reference.boxes import (
    AggregateMachine,
    AsOfMachine,
    BSortMachine,
    ChangesMachine,
    DistinctMachine,
    DropMachine,
    FilterMachine,
    JoinMachine,
    LagMachine,
    MapMachine,
    NumberMachine,
    ResampleMachine,
    TopMachine,
    TumbleMachine,
    UnionMachine,
    UnnestMachine,
    WSortMachine,
)
from australis.reference.machine import Machine

Schemas = tuple[Schema, ...]

MACHINES: dict[type[Box], Callable[[Any, Schemas, str], Machine]] = {
    Filter: FilterMachine,
    Map: MapMachine,
    Union: UnionMachine,
    Unnest: UnnestMachine,
    BSort: BSortMachine,
    WSort: WSortMachine,
    Aggregate: AggregateMachine,
    Tumble: TumbleMachine,
    Top: TopMachine,
    Changes: ChangesMachine,
    Lag: LagMachine,
    Distinct: DistinctMachine,
    Join: JoinMachine,
    AsOf: AsOfMachine,
    Resample: ResampleMachine,
    Number: NumberMachine,
    Drop: DropMachine,
}
"""The machine of every core box."""


def machine_of(box: Box, schemas: Schemas, timezone: str = "UTC") -> Machine:
    """A machine that runs a box on inputs of these schemas, from the beginning."""
    made = MACHINES.get(type(box.core))
    if made is None:
        raise KernelError(Problem("", f"no machine runs a {box.core.kind}", "an entry in MACHINES"))
    machine = made(box.core, schemas, timezone)
    ports = box.late_ports
    machine.late_outputs = {port: box.outputs - len(ports) + place for place, port in enumerate(ports)}
    return machine
