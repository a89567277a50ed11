"""A machine: events in, commands out, and a state that can be written down.

A node and the simulator host the same machines. Whatever happens, a machine answers with commands: what makes
no sense to it is refused and counted, and changes nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypeVar

import msgspec

from australis.errors import PolicyError, Problem
from australis.policy.machines.letters import (
    Announce,
    Forgotten,
    Handshake,
    Letter,
    Post,
    PostState,
    Refuse,
    Returned,
    Say,
    Welcome,
)
from australis.policy.machines.values import KEEP, Count, Value, decoded

# --- events of all machines


class Started(Value, frozen=True):
    """The machine begins, or goes on after a restart: what it had planned is planned again."""


class Received(Value, frozen=True):
    """A letter has come over a connection whose other end has proved this identity."""

    identity: str
    letter: bytes


# --- commands of all machines


class Wake(Value, frozen=True):
    """Give this event back at this time; a restart forgets it, and `Started` asks for it again."""

    at: int
    event: Value


class Send(Value, frozen=True):
    """Send a letter; it may be lost, delayed or duplicated."""

    to: str
    kind: str
    """The name of the message, by which hosts count and order letters."""
    letter: bytes


class Fence(Value, frozen=True):
    """This machine has forgotten what it did: its snapshot was too old. It decides nothing more."""

    partner: str
    incarnation: int
    number: int
    """The letter that the partner has had, and this machine does not remember."""


class Snapshot(msgspec.Struct, forbid_unknown_fields=True):
    """A machine as it is written down."""

    version: Count
    policy: str
    name: str
    is_fenced: bool
    post: PostState
    state: msgspec.Raw


SNAPSHOT_VERSION = 1
ASK_US = 1_000_000
"""After how long a question that was not answered is repeated."""
Made = TypeVar("Made", bound="Machine")


class Machine(ABC):
    """The base of all machines: letters are opened and written here, decisions are made by the policies.

    Times are whole microseconds. A host makes a machine with its configuration and its incarnation, restores
    the snapshot that was committed last, if there is one, and begins with `Started`. It commits the snapshot
    before it carries out commands; then a restart forgets nothing that others know.
    """

    POLICY: ClassVar[str]
    MESSAGES: ClassVar[Any]
    """The type of all messages, a union of values."""
    EVENTS: ClassVar[Any]
    STATE: ClassVar[Any]
    SETUP: ClassVar[Any]
    """The type of `setup`."""
    ASKS: ClassVar[bool] = False
    """Whether a machine that has returned must be told by all partners that it has forgotten nothing."""

    def __init__(self, name: str, incarnation: int = 1) -> None:
        self.name = name
        self.refused: Counter[str] = Counter()
        """How often what was refused, since this object was made."""
        self.is_fenced = False
        self._post = Post(self.POLICY, name, self.messages(), incarnation)

    @property
    def incarnation(self) -> int:
        return self._post.state.incarnation

    @property
    def is_asking(self) -> bool:
        """Whether it waits to hear that it has forgotten nothing."""
        return bool(self._post.state.asked)

    @classmethod
    def messages(cls) -> Any:
        """The type of all that a letter may say."""
        return cls.MESSAGES | Handshake

    def stay_plain(self) -> None:
        """Leave letters as values, which a large simulated world hands over as they are."""
        self._post.is_plain = True

    # --- what a policy says

    @classmethod
    @abstractmethod
    def of(cls: type[Made], name: str, setup: Any, incarnation: int) -> Made:
        """A machine with a configuration."""

    @abstractmethod
    def setup(self) -> Any:
        """The configuration that it was made with."""

    @abstractmethod
    def state(self) -> Any:
        """All that it must not forget."""

    @abstractmethod
    def resume(self, state: Any) -> None:
        """Continue from a state."""

    @abstractmethod
    def partners(self) -> Iterable[str]:
        """The machines whose letters it reads."""

    def knows(self, name: str) -> bool:
        """Whether a machine is a partner."""
        return name in self.partners()

    @abstractmethod
    def decide(self, event: Any, now: int) -> Sequence[Any]:
        """The commands that follow from an event of the host."""

    @abstractmethod
    def hear(self, sender: str, message: Any, now: int) -> Sequence[Any]:
        """The commands that follow from a message."""

    def returned(self, partner: str, now: int) -> Sequence[Any]:
        """A partner has begun another incarnation."""
        return []

    # --- the interface

    def handle(self, event: Any, now: int) -> list[Any]:
        """The commands that follow from an event; `now` is the time, in microseconds."""
        if self.is_fenced:
            return self._refuse("fenced")
        commands = self._received(event, now) if type(event) is Received else self._happened(event, now)
        if commands and type(commands[0]) is Refuse:
            return self._refuse(commands[0].why)
        return [self._sent(each) if type(each) is Say else each for each in commands if self._may(each)]

    def snapshot(self) -> bytes:
        """Its whole state."""
        raw = msgspec.Raw(KEEP(self.state()))
        return KEEP(Snapshot(SNAPSHOT_VERSION, self.POLICY, self.name, self.is_fenced, self._post.state, raw))

    def restore(self, data: bytes) -> None:
        """Continue from a snapshot of this incarnation, or of an earlier one."""
        found = decoded(Snapshot, data)
        state = decoded(self.STATE, bytes(found.state)) if found is not None else None
        if state is None or found.version != SNAPSHOT_VERSION:
            raise PolicyError(Problem(f"{self.name}.snapshot", "cannot be read", "one that a machine wrote"))
        if (found.policy, found.name) != (self.POLICY, self.name):
            what = f"is of {found.policy} {found.name}"
            raise PolicyError(Problem(f"{self.name}.snapshot", what, f"one of {self.POLICY} {self.name}"))
        if found.post.incarnation > self.incarnation:
            what = f"is of the incarnation {found.post.incarnation}"
            raise PolicyError(Problem(f"{self.name}.snapshot", what, f"{self.incarnation} or less"))
        self._post.began(found.post)
        self.is_fenced = found.is_fenced
        self.resume(state)

    # --- events and letters

    def _refuse(self, why: str) -> list[Any]:
        self.refused[why] += 1
        return []

    def _may(self, command: Any) -> bool:
        """While it asks whether it has forgotten anything, a machine says nothing else."""
        return not self.is_asking or type(command) is not Say or isinstance(command.message, Handshake)

    def _sent(self, said: Say) -> Send:
        return Send(said.to, type(said.message).__name__, self._post.write(said.to, said.message))

    def _happened(self, event: Any, now: int) -> Sequence[Any]:
        if not isinstance(event, self.EVENTS):
            return [Refuse("event")]
        return self._began(now) if type(event) is Started else self.decide(event, now)

    def _began(self, now: int) -> Sequence[Any]:
        post = self._post
        if self.ASKS and self.incarnation > 1 and not post.state.has_begun:
            post.ask(sorted(set(self.partners()) - {self.name}))
        post.state.has_begun = True
        if self.is_asking:
            return [*post.ask_again(), Wake(now + ASK_US, Started())]
        return self.decide(Started(), now)

    def _received(self, event: Received, now: int) -> Sequence[Any]:
        letter = self._post.opened(event.identity, event.letter)
        if isinstance(letter, Refuse):
            return [letter]
        if not self.knows(event.identity):
            return [Refuse("stranger")]
        message = self._post.message(letter)
        if isinstance(message, Refuse):
            return [message]
        if isinstance(message, Handshake):
            return self._shake(letter, message, now)
        why = self._unheard(letter)
        if why == "unannounced":
            self.refused[why] += 1
            return [Say(letter.sender, Announce())]
        if why:
            return [Refuse(why)]
        commands = self.hear(letter.sender, message, now)
        if commands and type(commands[0]) is Refuse:
            return commands
        self._post.note(letter)
        return commands

    def _unheard(self, letter: Letter) -> str:
        """Why a letter is not read, though it is well made."""
        heard = self._post.state.heard.get(letter.sender)
        if heard is not None and heard.is_welcome is False:
            return "forgotten"
        if self.ASKS and self.is_asking:
            return "asking"
        is_new = heard is not None and (heard.incarnation < letter.incarnation or heard.is_welcome is None)
        return "unannounced" if self.ASKS and is_new else ""

    def _shake(self, letter: Letter, message: Any, now: int) -> Sequence[Any]:
        if isinstance(message, Returned):
            return self._greet(letter, message, now)
        if isinstance(message, Announce):
            self._post.note(letter, meant=False, welcome=None)
            return [self._post.announced(letter.sender)]
        if letter.sender not in self._post.state.asked:
            return [Refuse("late")]
        self._post.note(letter, meant=False, welcome=None)
        if isinstance(message, Forgotten):
            self.is_fenced = True
            return [Fence(letter.sender, message.before, message.number)]
        return self.answered(letter.sender, now)

    def lost(self, partner: str) -> None:
        """A partner is gone for good: none of its letters counts any more."""
        self._post.lost(partner)

    def answered(self, partner: str, now: int) -> Sequence[Any]:
        """A partner need not be waited for any more; once none is, the machine goes on."""
        if self._post.state.asked.pop(partner, None) is None or self.is_asking:
            return []
        return self.decide(Started(), now)

    def _greet(self, letter: Letter, said: Returned, now: int) -> Sequence[Any]:
        heard = self._post.state.heard.get(letter.sender)
        is_new = heard is None or heard.incarnation < letter.incarnation or heard.is_welcome is None
        if self._post.has_forgotten(letter, said):
            was = heard.said if heard else (0, 0)
            self._post.note(letter, meant=False)
            self._post.judge(letter.sender, welcome=False)
            return [Say(letter.sender, Forgotten(*was))]
        self._post.note(letter, meant=False)
        self._post.judge(letter.sender, welcome=True)
        return [Say(letter.sender, Welcome()), *(self.returned(letter.sender, now) if is_new else ())]
