"""The journal: what machines were told and what they decided, a line of JSON for each, whoever hosts them.

A replay makes the machines again from what the journal says of them, gives them the same events, and
compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from australis.errors import PolicyError, Problem
from australis.policy.machines.machine import Machine, Received, Send, Started
from australis.policy.machines.values import ENCODE, Count, Name, decoded

JOURNAL_VERSION = 1


class Began(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """A machine begins, with its configuration and the snapshot that it restores."""

    version: Count
    who: Name
    policy: Name
    incarnation: Count
    setup: msgspec.Raw
    snapshot: bytes | None = None


class Decided(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """A machine was told something, and what it decided."""

    at: int
    who: Name
    event: msgspec.Raw
    commands: tuple[msgspec.Raw, ...]


Entry = Began | Decided
_DECODER = msgspec.json.Decoder(Began | Decided)


class Journal:
    """Writes entries, each as a line, to whatever takes lines.

    >>> lines = []
    >>> Journal(lines.append).decided(5, "ann", Started(), [])
    >>> lines
    [b'{"type":"Decided","at":5,"who":"ann","event":{"type":"Started"},"commands":[]}\\n']
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write

    def began(self, machine: Machine, snapshot: bytes | None = None) -> None:
        """A machine begins, or is restored."""
        setup = msgspec.Raw(ENCODE(machine.setup()))
        policy, incarnation = machine.POLICY, machine.incarnation
        self._line(Began(JOURNAL_VERSION, machine.name, policy, incarnation, setup, snapshot))

    def decided(self, at: int, who: str, event: Any, commands: Sequence[Any]) -> None:
        """A machine was told something."""
        raw = tuple(msgspec.Raw(ENCODE(each)) for each in commands)
        self._line(Decided(at, who, msgspec.Raw(ENCODE(event)), raw))

    def _line(self, entry: Entry) -> None:
        self._write(ENCODE(entry) + b"\n")


def entries(lines: Iterable[bytes]) -> Iterator[Entry]:
    """The entries of a journal; the last line may be cut off by a crash, no other may."""
    bad: int | None = None
    for number, line in enumerate(lines, 1):
        if bad is not None:
            raise PolicyError(Problem(f"journal, line {bad}", "cannot be read", "an entry of a journal"))
        try:
            yield _DECODER.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            # The last line may be cut off by a crash; if there is another one, this is an error.
            bad = number


class Difference(NamedTuple):
    """Where a replay decides otherwise."""

    line: int
    at: int
    who: str
    event: str
    recorded: tuple[str, ...]
    replayed: tuple[str, ...]


class Replayed(NamedTuple):
    """The result of a replay."""

    events: int
    machines: int
    refused: Mapping[str, int]
    """How often what was refused, over all machines."""
    differences: tuple[Difference, ...]


def replay(lines: Iterable[bytes], kinds: Mapping[str, type[Machine]], most: int = 10) -> Replayed:
    """Give machines of the journal's kinds the same events; stops after some differences."""
    machines: dict[str, Machine] = {}
    found: list[Difference] = []
    refused: dict[str, int] = {}
    events = lives = 0
    for number, entry in enumerate(entries(lines), 1):
        if isinstance(entry, Began):
            _add(refused, machines.get(entry.who))
            machines[entry.who] = _made(number, entry, kinds)
            lives += 1
            continue
        events += 1
        difference = _compared(number, entry, machines)
        if difference is not None:
            found.append(difference)
            if len(found) == most:
                break
    for machine in machines.values():
        _add(refused, machine)
    return Replayed(events, lives, refused, tuple(found))


def _add(refused: dict[str, int], machine: Machine | None) -> None:
    for why, count in machine.refused.items() if machine else ():
        refused[why] = refused.get(why, 0) + count


def _made(number: int, entry: Began, kinds: Mapping[str, type[Machine]]) -> Machine:
    kind = kinds.get(entry.policy)
    setup = decoded(kind.SETUP, bytes(entry.setup)) if kind is not None else None
    if kind is None or setup is None or entry.version != JOURNAL_VERSION:
        what = f"begins {entry.policy} {entry.who}, which is not known here"
        raise PolicyError(Problem(f"journal, line {number}", what, f"one of {', '.join(sorted(kinds))}"))
    machine = kind.of(entry.who, setup, entry.incarnation)
    if entry.snapshot is not None:
        machine.restore(entry.snapshot)
    return machine


def _compared(number: int, entry: Decided, machines: Mapping[str, Machine]) -> Difference | None:
    machine = machines.get(entry.who)
    if machine is None:
        what = f"has an event of {entry.who}, which has not begun"
        raise PolicyError(Problem(f"journal, line {number}", what, "its beginning before that"))
    event = decoded(machine.EVENTS | Received | Started, bytes(entry.event))
    if event is None:
        what = f"has an event that {machine.POLICY} does not know"
        raise PolicyError(Problem(f"journal, line {number}", what, "one of this version"))
    commands = machine.handle(event, entry.at)
    forms = tuple(ENCODE(each) for each in commands)
    if forms == tuple(bytes(each) for each in entry.commands):
        return None
    recorded = tuple(_told(bytes(each)) for each in entry.commands)
    return Difference(
        number, entry.at, entry.who, _told(bytes(entry.event)), recorded, tuple(map(_told, forms))
    )


def _told(form: bytes) -> str:
    """A value for people: letters are opened."""
    found = msgspec.json.decode(form)
    if isinstance(found, dict) and found.get("type") in (Send.__name__, Received.__name__):
        data = decoded(bytes, ENCODE(found["letter"])) or b""
        letter = decoded(Any, data)
        found["letter"] = letter if letter is not None else f"{len(data)} bytes"
    return ENCODE(found).decode()
