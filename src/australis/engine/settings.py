"""The settings of a node, and which of them a root remembers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from australis.algebra.boxes import at
from australis.algebra.network import Network
from australis.algebra.spans import microseconds
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Discipline
from australis.policy.schedule import Scheduling

WORKER_WAIT = "spark.australis.workerWait"
"""The Spark option for how many seconds to wait for the first worker of a cluster."""
WORKER_WAIT_S = 30.0
LAYERED_FROM = 2 << 20
"""Smaller states are written faster whole."""
SPLIT_FROM = 10_000
"""Smaller segments are read faster whole."""
BOX_TRAIN = 1_000
"""The number of tuples in a train under the discipline `box`."""


class Way(StrEnum):
    """How the leading boxes of a train run."""

    FUSED = "fused"
    """In the Python task that reads the segments."""
    SPARK = "spark"
    """As Spark expressions, before the tuples come to Python."""


@dataclass(frozen=True)
class NodeSettings:
    """The settings of a node; the defaults are for one machine."""

    discipline: Discipline | None = None
    """None: branches where outputs have QoS graphs to choose by, else connected components."""
    way: Way = Way.FUSED
    partitions: int = 2
    """The number of parts into which the state of a box is divided by its keys."""
    train: int = 2_000_000
    """The most tuples that a train takes."""
    train_bytes: int = 256 << 20
    """The most bytes of files that a train reads, about; what is decoded of them takes several times that."""
    in_flight: int = 2
    """How many trains may run at a time."""
    cache: int = 256 << 20
    """The bytes of decoded tuples that a worker caches."""
    layered_from: int = LAYERED_FROM
    """The bytes from which on a state that falls into groups is kept in layers, so that a train writes only
    the groups that it has changed."""
    split_from: int = SPLIT_FROM
    """The tuples from which on a segment is split by the key of its readers, so that a task of a train reads
    only its own part."""
    schedule: Scheduling | None = None
    """None: by state where outputs have delay graphs, else round robin."""
    is_schedule_open: bool = False
    """Whether none was asked for, so that it follows the graphs that outputs get while the node runs."""
    shed: bool = True
    """Whether tuples may be shed under overload, by the QoS graphs of outputs."""
    headroom: float = 1.0
    """The part of the workers' time that may be used in steady state (Aurora's H)."""
    fairness: float = 0.0
    """How much it counts when tuples are shed that outputs are served alike, against the total utility."""
    optimise: bool = False
    """Whether the network is rewritten while it runs, by what was measured."""
    disk: int | None = None
    """The bytes of segments at which ingest waits for space; None for no limit."""
    train_limit: str | None = None
    """How long a train may take, such as "5 min"; None for no limit."""

    def __post_init__(self) -> None:
        if self.layered_from < 0:
            raise EngineError(Problem("layered_from", f"is {self.layered_from}", "a number of bytes"))
        if self.split_from < 0:
            raise EngineError(Problem("split_from", f"is {self.split_from}", "a number of tuples"))
        for name in ("partitions", "train", "train_bytes", "in_flight"):
            if getattr(self, name) < 1:
                raise EngineError(Problem(name, f"is {getattr(self, name)}", "1 or more"))
        if self.disk is not None and self.disk < 1:
            raise EngineError(Problem("disk", f"is {self.disk}", "a number of bytes, 1 or more"))
        if not 0 < self.headroom <= 1:
            raise EngineError(Problem("headroom", f"is {self.headroom}", "more than 0, at most 1"))
        if not 0 <= self.fairness <= 1:
            raise EngineError(Problem("fairness", f"is {self.fairness}", "0 to 1"))

        if self.train_limit is not None:
            with at("train_limit"):
                microseconds(self.train_limit)

    def for_network(self, network: Network) -> NodeSettings:
        """The settings for a network: fills in those that were left open."""
        graphs = any(output.quality is not None for output in network.outputs.values())
        discipline = self.discipline or (Discipline.BRANCH if graphs else Discipline.SUPERBOX)
        is_open = self.schedule is None or self.is_schedule_open
        schedule = self.schedule or Scheduling.fitting(network)
        return replace(self, discipline=discipline, schedule=schedule, is_schedule_open=is_open)

    @property
    def train_limit_s(self) -> float | None:
        """The seconds that a train may take."""
        return None if self.train_limit is None else microseconds(self.train_limit) / 1e6

    @property
    def train_most(self) -> int:
        return min(self.train, BOX_TRAIN) if self.discipline is Discipline.BOX else self.train
