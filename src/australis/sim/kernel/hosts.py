"""Hosts of machines, as a node is one: they commit a snapshot after each event, and restart from one."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from australis.policy.machines import Fence, Journal, Machine, Received, Send, Started, Wake
from australis.sim.kernel.clock import Clock
from australis.sim.kernel.links import Net

REMEMBERED = 50
"""How many snapshots a host keeps, of which an old one may come back."""


def micros(seconds: float) -> int:
    """A time of the clock, as machines count it.

    >>> micros(1.5)
    1500000
    """
    return round(seconds * 1e6)


class MachineHost:
    """One machine, through all of its incarnations.

    What a machine commands is carried out after its snapshot is committed; a crash may come between the two.
    One that commands `Fence` has forgotten what it did, and is taken out of service. With `restores` it is
    made again from its snapshot before each event, which must change nothing.
    """

    def __init__(
        self,
        clock: Clock,
        make: Callable[[int], Machine],
        carry: Callable[[Any], None],
        *,
        net: Net | None = None,
        journal: Journal | None = None,
        keeps: bool = False,
        restores: bool = False,
    ) -> None:
        self._clock, self._make, self._carry = clock, make, carry
        self._net, self._journal = net, journal
        self._keeps, self._restores = keeps or restores, restores
        self.machine: Any = make(1)
        self.up = True
        self.fenced: Fence | None = None
        self.refused: Counter[str] = Counter()
        """What earlier incarnations refused."""
        self._snapshots: deque[bytes] = deque(maxlen=REMEMBERED)
        if journal is not None:
            journal.began(self.machine)
        self._commit()

    def tell(self, event: Any) -> None:
        """Tell the machine, if it is up, and carry out its commands."""
        if not self.up:
            return
        if self._restores:
            self._restore(self.machine.incarnation)
        now, life = micros(self._clock.now), self.machine.incarnation
        commands = self.machine.handle(event, now)
        if self._journal is not None:
            self._journal.decided(now, self.machine.name, event, commands)
        self._commit()
        for command in commands:
            # A command may lead to a crash.
            if self._is_in(life):
                self._obey(command)

    @property
    def refusals(self) -> int:
        """How much was refused, by all incarnations."""
        return sum(self.refused.values()) + sum(self.machine.refused.values())

    def heard(self, sender: str, letter: bytes) -> None:
        """A letter has come from a sender that has proved who it is."""
        self.tell(Received(sender, letter))

    def _obey(self, command: Any) -> None:
        if isinstance(command, Send) and self._net is not None:
            self._net.send(self.machine.name, command.to, command.letter)
        elif isinstance(command, Wake):
            at = max(self._clock.now, command.at / 1e6)
            self._clock.at(at, self._wake, self.machine.incarnation, command.event)
        else:
            if isinstance(command, Fence):
                self.fenced = command
            self._carry(command)

    def _wake(self, incarnation: int, event: Any) -> None:
        if self._is_in(incarnation):
            self.tell(event)

    def _is_in(self, incarnation: int) -> bool:
        return self.up and incarnation == int(self.machine.incarnation)

    def _commit(self) -> None:
        if self._keeps:
            self._snapshots.append(self.machine.snapshot())

    def _restore(self, incarnation: int) -> None:
        self.refused += self.machine.refused
        self.machine = self._make(incarnation)
        self.machine.restore(self._snapshots[-1])

    # --- crashes

    def crash(self) -> None:
        """Lose what is in memory."""
        self.up = False

    def restart(self, *, back: int = 0) -> None:
        """Begin another incarnation, from the last snapshot or from one so many events before it."""
        for _ in range(min(back, len(self._snapshots) - 1)):
            self._snapshots.pop()
        self._restore(self.machine.incarnation + 1)
        if self._journal is not None:
            self._journal.began(self.machine, self._snapshots[-1])
        self.up = True
        self._commit()
        self.tell(Started())
