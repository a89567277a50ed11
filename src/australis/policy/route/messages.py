"""The messages, events and commands of a router: values with one form on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

from australis.policy.machines import Amount, Count, Name, Natural, Value

LEAST_COST = 1e-9
Cost = Annotated[float, msgspec.Meta(ge=LEAST_COST, le=1e9)]
"""Costs are divisors."""


class Reported(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is reported of an operator (Table 4.9); times in seconds."""

    queue: Amount
    ticket: Amount
    selectivity: Amount
    cost: Cost | None
    """None if nothing was processed yet."""


# --- between nodes ------------------------------------------------------------------------------------------


class Report(Value, frozen=True):
    """The operators at a node: said again at each interval, so that each may be lost."""

    at: tuple[Count, Natural]
    """The incarnation, and the number of the report: one that was overtaken is ignored."""
    operators: dict[Name, Reported]


Message = Report

# --- events -------------------------------------------------------------------------------------------------


class Counted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What happened at an operator in an interval."""

    received: Natural
    served: Natural
    emitted: Natural
    busy: Amount
    """Seconds of processing."""
    queue: Amount
    """The mean length of its queue."""


class Measured(Value, frozen=True):
    """An interval is over; told to the neighbours."""

    operators: dict[Name, Counted]
    """The operators that run here: who is missing has left."""
    neighbours: tuple[Name, ...]


class Gone(Value, frozen=True):
    """A neighbour is gone for good."""

    partner: Name


Event = Measured | Gone

# --- commands -----------------------------------------------------------------------------------------------


class Weight(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How good it is to visit an operator, and how much of that each of its nodes gets."""

    score: float
    otherwise: float
    """What decides where no operator that is ready has a score: the greatest."""
    nodes: dict[Name, float]


class Route(Value, frozen=True):
    """Send tuples by these weights from now on: `australis.policy.route.divided` divides a train."""

    weights: dict[Name, Weight]
    weighted: bool


Command = Route
