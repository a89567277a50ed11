"""Letters: messages between machines, each with its sender, the sender's incarnation and a number.

An incarnation is one life of a machine, counted by its node. Numbers count the letters of one incarnation to
one receiver, so that a letter that is repeated or replayed is known.
"""

from __future__ import annotations

from typing import Any

import msgspec

from australis.policy.machines.values import ENCODE, MOST_BYTES, VERSION, Count, Name, Natural, Value, decoded

WINDOW = 1024
"""The most letters by which one may overtake another; an older one counts as repeated."""


class Letter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message as it is on the wire."""

    version: Natural
    policy: Name
    sender: Name
    incarnation: Count
    to: Name
    number: Count
    message: msgspec.Raw


class Say(Value, frozen=True):
    """What a part of a machine wants to say; the machine makes a letter of it."""

    to: str
    message: Value


class Refuse(Value, frozen=True):
    """What a part of a machine returns, alone, for what makes no sense to it; it has changed nothing."""

    why: str


class Returned(Value, frozen=True):
    """The sender has begun another incarnation, and remembers this letter of an earlier one to you."""

    before: Natural
    number: Natural


class Welcome(Value, frozen=True):
    """The receiver of `Returned` knows of no letter that the sender has forgotten."""


class Forgotten(Value, frozen=True):
    """The receiver of `Returned` has had later letters: the sender has forgotten what it did."""

    before: Natural
    number: Natural


class Announce(Value, frozen=True):
    """The receiver has not said `Returned` to the sender, or that has forgotten it."""


Handshake = Returned | Welcome | Forgotten | Announce


class HeardFrom(msgspec.Struct):
    """What has come from a machine: its incarnation, and the letters of that."""

    incarnation: int
    floor: int = 0
    """All letters up to here count as come."""
    above: list[int] = []
    """Those after it that have come, sorted."""
    said: tuple[int, int] = (0, 0)
    """The incarnation and number of the last letter that meant anything, of all incarnations."""
    is_welcome: bool | None = True
    """Whether it remembers its earlier incarnations; None if it has not said."""
    is_gone: bool = False
    """Whether it is gone for good: who comes back under its name begins with nothing."""

    def has(self, number: int) -> bool:
        return number <= self.floor or number in self.above

    def note(self, number: int) -> None:
        self.above = sorted([*self.above, number])
        while self.above and (self.above[0] == self.floor + 1 or len(self.above) > WINDOW):
            self.floor = self.above.pop(0)


class PostState(msgspec.Struct):
    """What survives a restart."""

    incarnation: int = 1
    has_begun: bool = False
    before: int = 0
    """The incarnation of the snapshot that this one began with."""
    remembered: dict[str, tuple[int, int]] = {}
    """The last letter to each machine that this one remembers: the incarnation and the number."""
    sent: dict[str, int] = {}
    heard: dict[str, HeardFrom] = {}
    asked: dict[str, bool] = {}
    """The machines that have not yet said whether this one has forgotten anything."""


class Post:
    """Writes and opens the letters of one machine.

    >>> from typing import Any
    >>> ann, bob = Post("trade", "ann", Any), Post("trade", "bob", Any)
    >>> data = ann.write("bob", Welcome())
    >>> letter = bob.opened("ann", data)
    >>> letter.sender, letter.number, bob.opened("eve", data)
    ('ann', 1, Refuse(why='identity'))
    >>> bob.note(letter)
    >>> bob.opened("ann", data)
    Refuse(why='repeat')
    """

    def __init__(self, policy: str, name: str, messages: object, incarnation: int = 1) -> None:
        self.policy, self.name, self._messages = policy, name, messages
        self.state = PostState(incarnation)
        self.is_plain = False
        """Whether letters stay values: large simulated worlds need not write and read them."""

    def write(self, to: str, message: Value) -> Any:
        """The next letter to a machine."""
        number = self.state.sent.get(to, 0) + 1
        self.state.sent[to] = number
        if self.is_plain:
            plain: Any = message
            return Letter(VERSION, self.policy, self.name, self.state.incarnation, to, number, plain)
        raw = msgspec.Raw(ENCODE(message))
        return ENCODE(Letter(VERSION, self.policy, self.name, self.state.incarnation, to, number, raw))

    def opened(self, identity: str, data: bytes) -> Letter | Refuse:
        """The letter that a machine with an identity has sent, or why it is none."""
        letter: Any = data
        if not self.is_plain:
            if len(data) > MOST_BYTES:
                return Refuse("oversized")
            letter = decoded(Letter, data)
        if not isinstance(letter, Letter):
            return Refuse("malformed")
        if letter.version != VERSION:
            return Refuse("version")
        if letter.sender != identity:
            return Refuse("identity")
        if (letter.to, letter.policy) != (self.name, self.policy):
            return Refuse("address")
        heard = self.state.heard.get(identity)
        if heard is not None and letter.incarnation < heard.incarnation:
            return Refuse("stale")
        if heard is not None and letter.incarnation == heard.incarnation and heard.has(letter.number):
            return Refuse("repeat")
        return letter

    def message(self, letter: Letter) -> Value | Refuse:
        """What a letter says."""
        found = letter.message if self.is_plain else decoded(self._messages, letter.message)
        return found if isinstance(found, Value) else Refuse("message")

    def note(self, letter: Letter, *, meant: bool = True, welcome: bool | None = True) -> None:
        """A letter has had its effect: it has none again, and neither have those of earlier incarnations."""
        heard = self.state.heard.get(letter.sender)
        if heard is None or heard.is_gone or heard.incarnation < letter.incarnation:
            is_first = heard is None or heard.is_gone
            said = heard.said if heard is not None and not is_first else (0, 0)
            heard = HeardFrom(letter.incarnation, said=said, is_welcome=is_first or welcome)
            self.state.heard[letter.sender] = heard
        heard.note(letter.number)
        if meant:
            heard.said = max(heard.said, (letter.incarnation, letter.number))

    # --- incarnations

    def judge(self, partner: str, *, welcome: bool) -> None:
        """Whether the present incarnation of a machine has forgotten nothing that is known here."""
        self.state.heard[partner].is_welcome = welcome

    def began(self, earlier: PostState | None) -> None:
        """Begin this incarnation with what an earlier one knew."""
        incarnation = self.state.incarnation
        if earlier is None:
            return
        if earlier.incarnation == incarnation:
            self.state = earlier
            return
        remembered = {each: (earlier.incarnation, number) for each, number in earlier.sent.items()}
        # An incarnation that was not told that it had forgotten nothing may have.
        unsure = {each: earlier.remembered.get(each, (earlier.before, 0)) for each in earlier.asked}
        self.state = PostState(
            incarnation, before=earlier.incarnation, remembered=remembered | unsure, heard=earlier.heard
        )

    def ask(self, partners: list[str]) -> list[Say]:
        """Ask whether this incarnation has forgotten anything."""
        self.state.asked = dict.fromkeys(partners, True)
        return self.ask_again()

    def ask_again(self) -> list[Say]:
        """Repeat the question to those that have not answered."""
        known, before = self.state.remembered, self.state.before
        return [Say(each, Returned(*known.get(each, (before, 0)))) for each in self.state.asked]

    def announced(self, partner: str) -> Say:
        """What this incarnation remembers to have sent, for one that does not know it."""
        state = self.state
        if partner in state.asked:
            return Say(partner, Returned(*state.remembered.get(partner, (state.before, 0))))
        return Say(partner, Returned(state.incarnation, state.sent.get(partner, 0)))

    def lost(self, partner: str) -> None:
        """A machine is gone for good: no letter of this incarnation counts any more."""
        heard = self.state.heard.get(partner)
        if heard is not None:
            self.state.heard[partner] = HeardFrom(heard.incarnation + 1, is_gone=True)

    def has_forgotten(self, letter: Letter, said: Returned) -> bool:
        """Whether the sender of `Returned` has forgotten letters that have come here."""
        heard = self.state.heard.get(letter.sender)
        if heard is None or heard.is_gone:
            return False
        if heard.incarnation == letter.incarnation and heard.is_welcome is not None:
            return not heard.is_welcome
        return heard.is_welcome is False or heard.said > (said.before, said.number)
