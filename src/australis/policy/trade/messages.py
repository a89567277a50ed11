"""The messages, events and commands of a participant: plain values."""

from __future__ import annotations

from typing import NamedTuple

from australis.policy.trade.contract import Contract, Task

# --- between participants -----------------------------------------------------------------------------------
# A serial is of the giver's offers: whoever answers repeats it.


class Offer(NamedTuple):
    """Will you take some of these, at this price for a unit of load?"""

    serial: int
    price: int
    tasks: tuple[Task, ...]


class Accepted(NamedTuple):
    """I will take these: a binding promise until you move or withdraw them."""

    serial: int
    tasks: tuple[str, ...]


class Asked(NamedTuple):
    """Not at this price, but at that one."""

    serial: int
    price: int


class Rejected(NamedTuple):
    """At no price of our contract."""

    serial: int


class Withdrawn(NamedTuple):
    """I will not move what you accepted."""

    serial: int


class Moved(NamedTuple):
    """The tasks are yours, and so is the money for them."""

    serial: int
    price: int
    tasks: tuple[Task, ...]

    @property
    def payment(self) -> int:
        """What is paid with it."""
        return self.price * sum(task.load for task in self.tasks)


class Received(NamedTuple):
    """The tasks have arrived."""

    serial: int


class Relieved(NamedTuple):
    """I have rejected an offer of yours, and could take something now."""


Message = Offer | Accepted | Asked | Rejected | Withdrawn | Moved | Received | Relieved

# --- events -------------------------------------------------------------------------------------------------


class Came(NamedTuple):
    """A client has brought a task, or the load of one has grown by that much."""

    task: Task


class Ended(NamedTuple):
    """A task that runs here has ended."""

    task: str


class Heard(NamedTuple):
    """A message has arrived."""

    sender: str
    message: Message


class Agreed(NamedTuple):
    """A contract is made or changed."""

    contract: Contract


class Terminated(NamedTuple):
    """A contract has ended, in one direction."""

    giver: str
    taker: str


class Gone(NamedTuple):
    """A partner is gone for good: what it was promised is free again."""

    partner: str


class Woke(NamedTuple):
    """The time named by a `Wake` has come."""

    why: str
    serial: int = 0
    partner: str = ""


Event = Came | Ended | Heard | Agreed | Terminated | Gone | Woke

# --- commands -----------------------------------------------------------------------------------------------


class Send(NamedTuple):
    """Send a message."""

    to: str
    message: Message


class Wake(NamedTuple):
    """Deliver this event at this time."""

    at: int
    event: Woke


class Gave(NamedTuple):
    """Tasks no longer run here: they go to a partner, with money."""

    to: str
    tasks: tuple[Task, ...]
    price: int
    saving: int
    """What this saves here."""


class Took(NamedTuple):
    """Tasks now run here, and money came with them."""

    giver: str
    tasks: tuple[Task, ...]
    price: int
    cost: int
    """Their cost on top of the load at which they were promised to be taken."""


Command = Send | Wake | Gave | Took
