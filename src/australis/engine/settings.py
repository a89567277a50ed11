"""The settings of a node, and what of them a root remembers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from australis.compile.superboxes import Discipline
from australis.errors import EngineError, Problem

BOX_TRAIN = 1_000
"""The tuples of a train under the discipline `box`."""


class Way(StrEnum):
    """How the leading boxes of a train run."""

    FUSED = "fused"
    """In the Python task that reads the segments."""
    SPARK = "spark"
    """As Spark expressions, before the tuples come to Python."""


@dataclass(frozen=True)
class NodeSettings:
    """What a node is like; the defaults are for one machine."""

    discipline: Discipline = Discipline.SUPERBOX
    way: Way = Way.FUSED
    partitions: int = 2
    """In how many parts the state of a box that is spread by keys is kept."""
    train: int = 2_000_000
    """The most tuples that a train takes."""
    in_flight: int = 2
    """How many trains may run at a time."""
    cache: int = 256 << 20
    """The bytes that a worker keeps decoded."""

    def __post_init__(self) -> None:
        for name in ("partitions", "train", "in_flight"):
            if getattr(self, name) < 1:
                raise EngineError(Problem(name, f"is {getattr(self, name)}", "1 or more"))

    @property
    def train_most(self) -> int:
        return min(self.train, BOX_TRAIN) if self.discipline is Discipline.BOX else self.train
