"""The messages, events and commands of a participant: values with one form on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

from australis.policy.machines import Count, Name, Natural, Value
from australis.policy.trade.contract import Contract, Task

MOST_TASKS = 1000
"""The most tasks of an offer."""
Tasks = Annotated[tuple[Task, ...], msgspec.Meta(min_length=1, max_length=MOST_TASKS)]

# --- between participants -----------------------------------------------------------------------------------
# A serial is of the giver's offers: whoever answers repeats it.


class Offer(Value, frozen=True):
    """Will you take some of these, at this price for a unit of load?"""

    serial: Count
    price: Natural
    tasks: Tasks


class Accepted(Value, frozen=True):
    """I will take these: a binding promise until you move or withdraw them."""

    serial: Count
    tasks: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=MOST_TASKS)]


class Asked(Value, frozen=True):
    """Not at this price, but at that one."""

    serial: Count
    price: Natural


class Rejected(Value, frozen=True):
    """At no price of our contract."""

    serial: Count


class Withdrawn(Value, frozen=True):
    """I will not move what you accepted."""

    serial: Count


class Moved(Value, frozen=True):
    """The tasks are yours, and so is the money for them."""

    serial: Count
    price: Natural
    tasks: Tasks

    @property
    def payment(self) -> int:
        """What is paid with it."""
        return self.price * sum(task.load for task in self.tasks)


class Taken(Value, frozen=True):
    """The tasks run here."""

    serial: Count


class Undone(Value, frozen=True):
    """The tasks could not be made to run here: they are yours again, and so is the money."""

    serial: Count


class Relieved(Value, frozen=True):
    """I have rejected an offer of yours, and could take something now."""


Message = Offer | Accepted | Asked | Rejected | Withdrawn | Moved | Taken | Undone | Relieved

# --- events -------------------------------------------------------------------------------------------------


class Came(Value, frozen=True):
    """A client has brought a task, or the load of one has grown by that much."""

    task: Task


class Measured(Value, frozen=True):
    """The load of a task that runs here, as it was measured."""

    task: str
    load: int


class Ended(Value, frozen=True):
    """A task that runs here has ended."""

    task: str


class Agreed(Value, frozen=True):
    """A contract is made or changed."""

    contract: Contract


class Terminated(Value, frozen=True):
    """A contract has ended, in one direction; what was promised is still promised."""

    giver: str
    taker: str


class Gone(Value, frozen=True):
    """A partner is gone for good: what it was promised is free again."""

    partner: str


class Woke(Value, frozen=True):
    """The time named by a `Wake` has come."""

    why: str
    serial: int = 0
    partner: str = ""


class Installed(Value, frozen=True):
    """Whether the tasks of a `Take` run here now."""

    giver: str
    serial: int
    succeeded: bool = True


Event = Came | Measured | Ended | Agreed | Terminated | Gone | Woke | Installed

# --- commands -----------------------------------------------------------------------------------------------


class Take(Value, frozen=True):
    """Make the tasks of a giver run here, with their state, and report `Installed`; may be repeated."""

    giver: str
    serial: int
    tasks: tuple[Task, ...]


class Gave(Value, frozen=True):
    """Tasks no longer run here: they go to a partner, with money."""

    to: str
    tasks: tuple[Task, ...]
    price: int
    saving: int
    """What this saves here."""


class Regained(Value, frozen=True):
    """A partner could not run what it was given: the tasks run here again, and the money is back."""

    partner: str
    tasks: tuple[Task, ...]


class Took(Value, frozen=True):
    """Tasks now run here, and money came with them."""

    giver: str
    tasks: tuple[Task, ...]
    price: int
    cost: int
    """Their cost on top of the load at which they were promised to be taken."""
