"""From a box to the kernel that runs it."""

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
from australis.kernels.boxes import (
    AggregateKernel,
    Ask,
    BSortKernel,
    DropKernel,
    FilterKernel,
    JoinKernel,
    LookupJoinKernel,
    MapKernel,
    ResampleKernel,
    TableJoinKernel,
    TumbleKernel,
    UnionKernel,
    WSortKernel,
)
from australis.kernels.kernel import Kernel

Schemas = tuple[Schema, ...]


def _join(box: Join, schemas: Schemas, timezone: str) -> Kernel:
    kind = JoinKernel if box.table_side is None else TableJoinKernel
    return kind(box, schemas, timezone)


KERNELS: dict[type[Box], Callable[[Any, Schemas, str], Kernel]] = {
    Filter: FilterKernel,
    Map: MapKernel,
    Union: UnionKernel,
    BSort: BSortKernel,
    WSort: WSortKernel,
    Aggregate: AggregateKernel,
    Tumble: TumbleKernel,
    Join: _join,
    Resample: ResampleKernel,
    Drop: DropKernel,
}
"""The factory of every core box's kernel."""


def kernel_for(box: Box, schemas: Schemas, timezone: str = "UTC", ask: Ask | None = None) -> Kernel:
    """The kernel that runs a box on inputs of these schemas; with `ask`, a join looks up its table."""
    if ask is not None:
        assert isinstance(box, Join), "only a join can look up"
        return LookupJoinKernel(box, schemas, timezone, ask)
    made = KERNELS.get(type(box.core))
    if made is None:
        raise KernelError(Problem("", f"no kernel runs a {box.core.kind}", "an entry in KERNELS"))
    return made(box.core, schemas, timezone)
