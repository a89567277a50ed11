"""Which outputs of a node others may read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from australis.cluster.identity import NodeName


class Offers:
    """What is offered to whom. Nodes of the own participant may read every output.

    >>> offers = Offers("lab", {"alarms*": ["shop/*"]})
    >>> shop, lab = NodeName("shop", "till"), NodeName("lab", "b")
    >>> [offers.has("alarms", shop), offers.has("salaries", shop), offers.has("salaries", lab)]
    [True, False, True]
    """

    def __init__(self, participant: str, others: Mapping[str, Sequence[str]] | None = None) -> None:
        """`others` are patterns of nodes by patterns of outputs."""
        self._participant, self._others = participant, dict(others or {})

    def is_public(self, output: str) -> bool:
        """Whether an output is offered to anyone of another participant."""
        return any(nodes and fnmatchcase(output, pattern) for pattern, nodes in self._others.items())

    def has(self, output: str, node: NodeName) -> bool:
        """Whether a node may read an output."""
        if node.participant == self._participant:
            return True
        return any(
            fnmatchcase(output, pattern) and any(fnmatchcase(str(node), each) for each in nodes)
            for pattern, nodes in self._others.items()
        )
