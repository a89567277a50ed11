"""The machines of one node together: what one says of nodes is told to the others, and drafts are signed.

Both hosts of the machines, the live one and that of the simulation, have this core, so they differ only in
how time passes and how letters travel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from australis.cluster import catalogue, names
from australis.cluster.catalogue import Catalogue
from australis.cluster.identity import Seal
from australis.cluster.membership import (
    Attest,
    Attested,
    Changed,
    Forgot,
    Gossip,
    Pace,
    Presence,
    Setup,
    State,
    presence_bytes,
)
from australis.cluster.names import Names, Sign, Signed, record_bytes
from australis.policy.machines import Machine, Received, Send, Started, Wake


class Told(NamedTuple):
    """A command of a machine that the host must carry out, or pass on."""

    topic: str
    command: Any


class Core:
    """Gives events to machines and carries out what concerns them alone."""

    def __init__(
        self,
        name: str,
        place: tuple[str, int],
        incarnation: int,
        seal: Callable[[bytes], Seal],
        authorities: tuple[bytes, ...],
        pace: Pace | None = None,
        *,
        lifetime_us: int = 600_000_000,
    ) -> None:
        self.name, self._place, self._seal = name, place, seal
        self.members = Gossip(name, Setup(authorities, pace or Pace()), incarnation)
        self.catalogue = Catalogue(name, catalogue.Setup(), incarnation)
        self.names = Names(name, names.Setup(authorities, lifetime_us=lifetime_us), incarnation)
        self._machines: dict[str, Machine] = {
            each.POLICY: each for each in (self.members, self.catalogue, self.names)
        }
        self._present: dict[str, int] = {}
        """The nodes that are alive, with their incarnations."""

    @property
    def topics(self) -> Iterable[str]:
        """Under which letters for the machines come."""
        return self._machines

    def start(self, now: int) -> list[Told]:
        """Begin."""
        return [told for topic in self._machines for told in self.tell(topic, Started(), now)]

    def hear(self, topic: str, identity: str, letter: bytes, now: int) -> list[Told]:
        """A letter has come from a node that has proved who it is."""
        return self.tell(topic, Received(identity, letter), now)

    def tell(self, topic: str, event: Any, now: int) -> list[Told]:
        """Tell a machine of something; returns what is left to do."""
        found: list[Told] = []
        for command in self._machines[topic].handle(event, now):
            found += self._obey(topic, command, now)
        return found

    def refused(self) -> dict[str, int]:
        """What the machines have refused, and how often."""
        return {
            f"{topic}_{why}": count
            for topic, machine in self._machines.items()
            for why, count in machine.refused.items()
        }

    def _obey(self, topic: str, command: Any, now: int) -> list[Told]:
        match command:
            case Send() | Wake():
                return [Told(topic, command)]
            case Attest(incarnation):
                return self.tell(topic, Attested(self._presence(incarnation)), now)
            case Sign(records):
                return self.tell(topic, Signed(tuple(map(self._sealed, records))), now)
            case Changed(name, _, _, incarnation, state):
                return [Told(topic, command), *self._spread(name, incarnation, state, now)]
            case Forgot(name):
                return [Told(topic, command), *self.tell(self.catalogue.POLICY, catalogue.Gone(name), now)]
        return [Told(topic, command)]

    def _presence(self, incarnation: int) -> Presence:
        host, port = self._place
        data = presence_bytes(self.name, host, port, incarnation)
        return Presence(self.name, host, port, incarnation, self._seal(data))

    def _sealed(self, draft: names.Record) -> names.Record:
        return msgspec.structs.replace(draft, seal=self._seal(record_bytes(draft)))

    def _spread(self, name: str, incarnation: int, state: State, now: int) -> list[Told]:
        """Tell the other machines of a node that has come, has come back with another memory, or has gone."""
        if state is State.DEAD:
            if self._present.pop(name, None) is None:
                return []
            events: tuple[Any, Any] = catalogue.Absent(name), names.Absent(name)
        elif self._present.get(name) != incarnation:
            self._present[name] = incarnation
            events = catalogue.Present(name), names.Present(name)
        else:
            return []
        return [
            *self.tell(self.catalogue.POLICY, events[0], now),
            *self.tell(self.names.POLICY, events[1], now),
        ]
