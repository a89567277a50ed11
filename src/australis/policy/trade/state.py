"""What a participant was made with, and what it must not forget."""

from __future__ import annotations

import msgspec

from australis.policy.trade.contract import Contract, Task
from australis.policy.trade.holding import Settings
from australis.policy.trade.messages import Moved, Offer
from australis.policy.trade.taker import Outcome, Promise


class TradeSetup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a participant is made with."""

    slopes: tuple[int, ...]
    step: int
    contracts: tuple[Contract, ...]
    tasks: tuple[Task, ...]
    settings: Settings


class HoldingState(msgspec.Struct, forbid_unknown_fields=True):
    """What it has."""

    tasks: dict[str, Task]
    bound: set[str]
    load: int
    balance: int


class GiverState(msgspec.Struct, forbid_unknown_fields=True):
    """What it gives."""

    contracts: dict[str, Contract]
    serial: int
    prices: dict[str, int]
    offer: Offer | None
    partner: str
    moving: Moved | None
    rested: int
    woken_at: int | None
    refused: bool


class TakerState(msgspec.Struct, forbid_unknown_fields=True):
    """What it takes."""

    contracts: dict[str, Contract]
    offers: dict[str, Offer]
    promises: dict[str, Promise]
    heard: dict[str, int]
    taken: dict[str, Outcome]
    rejected: dict[str, int]
    woken: bool
    due: bool


class TradeState(msgspec.Struct, forbid_unknown_fields=True):
    """All of it."""

    holding: HoldingState
    giver: GiverState
    taker: TakerState
