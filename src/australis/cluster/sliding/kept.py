"""What a node whose boxes slide must not forget, in its root: its life, and the snapshot of its machine."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable

import msgspec

from australis.engine.change import Moves
from australis.errors import PolicyError
from australis.policy.machines import Journal, Machine

_log = logging.getLogger(__name__)
_KIND, _KEY = "place", "daemon"


class _Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    incarnation: int
    snapshot: str


def save(moves: Moves, machine: Machine) -> None:
    """Commit a machine to the root."""
    note = _Note(machine.incarnation, base64.b64encode(machine.snapshot()).decode())
    moves.note(f"{_KIND} {_KEY}", msgspec.json.encode(note).decode())


def opened(moves: Moves, make: Callable[[int], Machine], journal: Journal | None) -> Machine:
    """The machine in its next life: with what it knew, if that can be read."""
    text = moves.notes(_KIND).get(_KEY)
    note = None if text is None else msgspec.json.decode(text, type=_Note)
    machine, snapshot = make(1 if note is None else note.incarnation + 1), None
    if note is not None:
        snapshot = base64.b64decode(note.snapshot)
        try:
            machine.restore(snapshot)
        except PolicyError as error:
            _log.warning("the placement begins anew: %s", error)
            machine, snapshot = make(note.incarnation + 1), None
    if journal is not None:
        journal.began(machine, snapshot)
    save(moves, machine)
    return machine
