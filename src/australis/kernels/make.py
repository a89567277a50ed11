"""From a box to the kernel that runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from australis.algebra.boxes import (
    INNER,
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
from australis.kernels.boxes import (
    AggregateKernel,
    Ask,
    AsOfKernel,
    BSortKernel,
    ChangesKernel,
    DistinctKernel,
    DropKernel,
    FilterKernel,
    JoinKernel,
    KeyedResampleKernel,
    LagKernel,
    LookupJoinKernel,
    MapKernel,
    NumberKernel,
    OuterJoinKernel,
    ProgressResampleKernel,
    ResampleKernel,
    TableJoinKernel,
    TopKernel,
    TumbleKernel,
    UnionKernel,
    UnnestKernel,
    WSortKernel,
)
from australis.kernels.kernel import Kernel

Schemas = tuple[Schema, ...]


def _join(box: Join, schemas: Schemas, timezone: str) -> Kernel:
    if box.table_side is not None:
        return TableJoinKernel(box, schemas, timezone)
    by_progress = any(order.by_progress for order in box.orders.values())
    kind = JoinKernel if box.how == INNER and not by_progress else OuterJoinKernel
    return kind(box, schemas, timezone)


def _resample(box: Resample, schemas: Schemas, timezone: str) -> Kernel:
    if box.predicate is not None:
        return KeyedResampleKernel(box, schemas, timezone)
    kind = ProgressResampleKernel if box.right.by_progress else ResampleKernel
    return kind(box, schemas, timezone)


KERNELS: dict[type[Box], Callable[[Any, Schemas, str], Kernel]] = {
    Filter: FilterKernel,
    Map: MapKernel,
    Union: UnionKernel,
    Unnest: UnnestKernel,
    BSort: BSortKernel,
    WSort: WSortKernel,
    Aggregate: AggregateKernel,
    Tumble: TumbleKernel,
    Top: TopKernel,
    Changes: ChangesKernel,
    Lag: LagKernel,
    Distinct: DistinctKernel,
    Join: _join,
    AsOf: AsOfKernel,
    Resample: _resample,
    Number: NumberKernel,
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
