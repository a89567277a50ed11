"""The schedules that can be chosen, by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from australis.algebra.network import Network
from australis.policy.schedule.priorities import FeedbackBased, StateBased
from australis.policy.schedule.schedule import EarliestDeadline, Fifo, LongestQueue, RoundRobin, Schedule


class Scheduling(StrEnum):
    """How the next train is chosen."""

    STATE = "state"
    """What loses most utility if deferred."""
    FEEDBACK = "feedback"
    """Outputs that do badly run more often."""
    ROUND_ROBIN = "round-robin"
    """Output by output, in turn."""
    FIFO = "fifo"
    """The oldest tuple first."""
    LONGEST_QUEUE = "longest-queue"
    """The stage with the most tuples waiting."""
    DEADLINE = "deadline"
    """What will leave its good zone first."""

    @property
    def follows_graphs(self) -> bool:
        """Whether it uses the graphs of outputs; one that does not must not profit from them."""
        return self in (Scheduling.STATE, Scheduling.FEEDBACK, Scheduling.DEADLINE)

    @classmethod
    def fitting(cls, network: Network) -> Scheduling:
        """By state if outputs have delay graphs; otherwise in turn."""
        qualities = (output.quality for output in network.outputs.values())
        return cls.STATE if any(each and each.delay for each in qualities) else cls.ROUND_ROBIN


def schedule(kind: Scheduling, ways: Mapping[str, Collection[str]]) -> Schedule:
    """A schedule of a kind; `ways` has for each output the stages that lead to it, nearest last."""
    if kind is Scheduling.ROUND_ROBIN:
        return RoundRobin(ways)
    made: dict[Scheduling, type[Schedule]] = {
        Scheduling.STATE: StateBased,
        Scheduling.FEEDBACK: FeedbackBased,
        Scheduling.FIFO: Fifo,
        Scheduling.LONGEST_QUEUE: LongestQueue,
        Scheduling.DEADLINE: EarliestDeadline,
    }
    return made[kind]()
