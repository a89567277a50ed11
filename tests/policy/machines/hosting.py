"""A machine in the hands of a test: messages go in and come out without their letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from australis.policy.machines import ENCODE, Letter, Machine, Received, Say, Send, decoded


class Heard(NamedTuple):
    """A message of a sender."""

    sender: str
    message: Any


def letter(
    machine: Machine, sender: str, message: Any, number: int = 1, incarnation: int = 1, **changes: Any
) -> bytes:
    """A letter to a machine."""
    raw = msgspec.Raw(message if isinstance(message, bytes) else ENCODE(message))
    made = Letter(1, machine.POLICY, sender, incarnation, machine.name, number, raw)
    return ENCODE(msgspec.structs.replace(made, **changes))


def read(machine: Machine, data: bytes) -> Any:
    """The message of a letter that a machine has written."""
    found = decoded(Letter, data)
    assert isinstance(found, Letter)
    message = decoded(machine.messages(), bytes(found.message))
    assert message is not None, found
    return message


def opened(machine: Machine, command: Any) -> Any:
    """A command, with what is said in it."""
    return Say(command.to, read(machine, command.letter)) if isinstance(command, Send) else command


Answer = Callable[[Any], Any]


class Hosted:
    """Hands events to a machine; answers some commands at once, as a host does."""

    def __init__(self, machine: Any, answers: Mapping[type, Answer] | None = None) -> None:
        self.machine = machine
        self._answers = answers or {}
        self._numbers: Counter[str] = Counter()

    def handle(self, event: Any, now: int = 0) -> list[Any]:
        """The commands that follow, those of the answers in their places."""
        if isinstance(event, Heard):
            self._numbers[event.sender] += 1
            data = letter(self.machine, event.sender, event.message, self._numbers[event.sender])
            event = Received(event.sender, data)
        found = []
        for command in self.machine.handle(event, now):
            answer = self._answers.get(type(command))
            if answer is None:
                found.append(opened(self.machine, command))
            else:
                found += self.handle(answer(command), now)
        return found

    def hear(self, sender: str, message: Any, now: int = 0) -> list[Any]:
        return self.handle(Heard(sender, message), now)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.machine, name)
