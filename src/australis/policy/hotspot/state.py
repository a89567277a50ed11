"""What a peer was made with, and what it must not forget."""

from __future__ import annotations

import msgspec

from australis.policy.hotspot.departure import Leaving
from australis.policy.hotspot.directory import Entry
from australis.policy.hotspot.levels import Criteria, Levels, Loads
from australis.policy.hotspot.messages import Migration, Route, Task, Writer


class PeerSetup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a peer is made with."""

    offers: tuple[str, ...]
    peers: tuple[str, ...]
    criteria: Criteria
    levels: Levels
    remind_us: int
    silence: int
    patience: int


class HoldingsState(msgspec.Struct, forbid_unknown_fields=True):
    """What it executes."""

    tasks: dict[str, dict[str, Task]]
    upstreams: dict[str, Writer]
    versions: dict[str, int]
    routes: dict[str, Route]
    moved: dict[str, str]


class ReporterState(msgspec.Struct, forbid_unknown_fields=True):
    """What it has reported of itself."""

    offers: tuple[str, ...]
    loads: Loads | None
    level: int | None
    told: int | None
    at: int


class DirectoryState(msgspec.Struct, forbid_unknown_fields=True):
    """What it knows of others."""

    known: dict[str, dict[str, Entry]]
    serial: int


class DepartureState(msgspec.Struct, forbid_unknown_fields=True):
    """What leaves."""

    serial: int
    leaving: Leaving | None


class ArrivalState(msgspec.Struct, forbid_unknown_fields=True):
    """What comes."""

    awaited: Migration | None
    ticks: int
    taken: dict[str, int]
    accepted: dict[str, tuple[int, str, tuple[Task, ...]]]


class PeerState(msgspec.Struct, forbid_unknown_fields=True):
    """All of it."""

    peers: tuple[str, ...]
    met: set[str]
    heard: dict[str, int]
    unknown: set[str]
    holdings: HoldingsState
    reporter: ReporterState
    directory: DirectoryState
    departure: DepartureState
    arrival: ArrivalState
