"""What a link is, what it needs of a node, and how it goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import pyarrow as pa

from australis.algebra.network import Network
from australis.algebra.quality import Quality
from australis.algebra.schema import Schema
from australis.cluster.identity import NodeName, check_participant
from australis.engine.deliver import Follower
from australis.engine.observe import QualityReport
from australis.errors import ClusterError, Problem
from australis.policy.upstream import Downstream

WEIGHT_LEAST, WEIGHT_MOST = 0.001, 1000.0


@dataclass(frozen=True)
class Link:
    """An input of this node that is an output of another one.

    >>> Link.parse("speeds", "lab/a/fast", weight=2)
    Link(input='speeds', node=NodeName(participant='lab', node='a'), output='fast', weight=2, before='')
    """

    input: str
    node: NodeName
    output: str
    weight: float = 1.0
    """Its share of a connection that is full, in proportion to the weights of others."""
    before: str = ""
    """The definition of the boxes that run at the other node first, if there are any."""

    @classmethod
    def parse(cls, name: str, source: str, weight: float = 1.0, before: str = "") -> Link | NamedLink:
        """A link from `PARTICIPANT/NODE/OUTPUT`, or from `PARTICIPANT/NAME`, wherever that is."""
        parts = source.split("/", 2)
        if len(parts) < 2 or not parts[-1]:
            expected = "PARTICIPANT/NODE/OUTPUT, such as lab/edge-1/speeds, or PARTICIPANT/NAME"
            raise ClusterError(Problem(name, f"{source!r} is no output of a node", expected))
        if not WEIGHT_LEAST <= weight <= WEIGHT_MOST:
            expected = f"from {WEIGHT_LEAST} to {WEIGHT_MOST:g}"
            raise ClusterError(Problem(name, f"its weight is {weight}", expected))
        if len(parts) == 2:
            check_participant(parts[0], name)
            return NamedLink(name, parts[0], parts[1], weight, before)
        return cls(name, NodeName.parse("/".join(parts[:2]), name), parts[2], weight, before)

    @property
    def source(self) -> str:
        """Where its tuples come from."""
        return f"{self.node}/{self.output}"


@dataclass(frozen=True)
class NamedLink:
    """An input of this node that is a stream with a name, at whatever node that has it.

    >>> link = Link.parse("speeds", "lab/fast", weight=2)
    >>> link, link.at(NodeName("lab", "a")).source
    (NamedLink(input='speeds', participant='lab', output='fast', weight=2, before=''), 'lab/a/fast')
    """

    input: str
    participant: str
    output: str
    weight: float = 1.0
    before: str = ""

    @property
    def source(self) -> str:
        """The name of the stream."""
        return f"{self.participant}/{self.output}"

    def at(self, node: NodeName) -> Link:
        """The link, once it is known who has the stream."""
        return Link(self.input, node, self.output, self.weight, self.before)


def boxes_of(before: str) -> str:
    """The kinds of the boxes that run at the other node first, for people.

    >>> boxes_of('{"before": [{"box": "filter", "predicates": ["a > 1"]}, {"box": "map"}]}')
    'filter, map'
    """
    return ", ".join(str(each["box"]) for each in json.loads(before)["before"]) if before else ""


class LinkState(StrEnum):
    """What a link is doing."""

    ABSENT = "absent"
    """There is no connection with the other node."""
    ASKING = "asking"
    RUNNING = "running"
    WAITING = "waiting"
    """It was refused, or failed, and is tried again."""


@dataclass(frozen=True)
class LinkStatus:
    """How a link into this node goes."""

    input: str
    source: str
    weight: float
    state: LinkState
    problem: str = ""
    """What failed last."""
    position: int = 0
    """The number of the other node before which everything is here."""
    tuples: int = 0
    """Tuples since this node started."""
    bytes: int = 0
    before: str = ""
    """The boxes that run at the other node first."""


class LinkedNode(Protocol):
    """The part of a node that links use."""

    def push(
        self,
        name: str,
        batch: pa.Table,
        /,
        *,
        position: tuple[str, int] | None = None,
        wait_s: float | None = None,
    ) -> int | None: ...

    def position(self, source: str, /) -> str | None: ...

    def follow(self, output: str, begin: int | None = None, /) -> Follower: ...

    def consumer(self, consumer: str, output: str, /) -> tuple[int, str | None]: ...

    def acknowledge(self, consumer: str, output: str, seq: int, position: str | None, /) -> None: ...

    def has_output(self, name: str, /) -> bool: ...

    def recorded(self) -> Network | None: ...

    def behind(self, name: str, age_s: float, /) -> list[Downstream]: ...

    def infer(self, output: str, quality: Quality | None, /) -> None: ...

    def quality(self, window_s: int, /) -> QualityReport: ...
    def output_schema(self, name: str, /) -> Schema | None: ...

    def listen(self, told: Callable[[], None], /) -> Callable[[], None]: ...
