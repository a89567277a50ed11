"""How far a topic was read: the next offset of each partition, as a position committed with tuples."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from australis.errors import EngineError, Problem

NO_EPOCH = -1


@dataclass
class Place:
    """Which topic it is, and where in each partition to continue."""

    topic: str = ""
    """The topic's id, which one of the same name that is made later does not have."""
    turn: int = 0
    next: dict[int, int] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)
    """The leader epoch of the last message of each partition, by which a cut log is recognised."""

    @property
    def text(self) -> str:
        """The place as the text of a position.

        >>> Place("id", 2, {0: 17}, {0: 3}).text
        '{"topic":"id","turn":2,"partitions":{"0":[17,3]}}'
        """
        partitions = {
            str(each): [offset, self.epochs.get(each, NO_EPOCH)] for each, offset in sorted(self.next.items())
        }
        known = {"topic": self.topic, "turn": self.turn, "partitions": partitions}
        return json.dumps(known, separators=(",", ":"))

    def reach(self, partition: int, offset: int, epoch: int | None = None) -> None:
        """Note that a partition was read up to an offset."""
        self.next[partition] = max(offset, self.next.get(partition, offset))
        if epoch is not None and epoch >= 0:
            self.epochs[partition] = epoch


def read_place(text: str, path: str) -> Place:
    """The place of a position's text.

    >>> read_place(Place("id", 2, {0: 17}).text, "kafka:t").next
    {0: 17}
    """
    try:
        known = json.loads(text)
        partitions = {int(name): (int(each[0]), int(each[1])) for name, each in known["partitions"].items()}
        return Place(
            str(known["topic"]),
            int(known["turn"]),
            {each: offset for each, (offset, _) in partitions.items()},
            {each: epoch for each, (_, epoch) in partitions.items() if epoch >= 0},
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise EngineError(Problem(path, f"the position {text!r} is none of a topic")) from None
