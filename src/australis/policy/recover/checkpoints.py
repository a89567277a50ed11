"""What a server may forget: k-safety from arrays of sequence numbers (section 6.2).

Safe at level 0 is what the next server has received. Safe at level j is what a server need not be given
again, though it and the next j - 1 behind it fail together: it can go back to a moment from which it makes
again all that is not safe at level j - 1 behind it. So what is safe at level k outlives k failures further
on, and upstream the queue may be truncated up to there.

Nothing of this is ever void: a server that is rebuilt makes the same tuples again, so that what was once
known to be safe stays so, and messages about it may be lost, late, or there twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from australis.policy.recover.flow import Noted
from australis.policy.recover.positions import Positions, farthest, within

Safe = tuple[Positions, ...]
"""What is safe on an arc, at the levels 0 to k."""


class Checkpoints:
    """The moments that a server can go back to, and what follows for those before it.

    >>> server = Checkpoints(1, ["in"], ["out"])
    >>> server.noted(Noted({"out": {"p": 7}}, {"in": {"p": 5}}))
    >>> server.safe("in", {"p": 8})
    ({'p': 8}, {})
    >>> server.told("out", ({"p": 7}, {"p": 0}))
    >>> server.safe("in", {"p": 8})
    ({'p': 8}, {'p': 5})
    """

    def __init__(self, k: int, inputs: Iterable[str], outputs: Iterable[str]) -> None:
        self._k = k
        self._inputs, self._outputs = tuple(inputs), tuple(outputs)
        self._known: dict[str, list[dict[str, int]]] = {arc: [{} for _ in range(k + 1)] for arc in outputs}
        """What is safe on each arc, at each level, as its reader told."""
        self._moments: deque[Noted] = deque([Noted({}, {})])

    def noted(self, moment: Noted) -> None:
        """One more moment that the server can go back to."""
        self._moments.append(moment)

    def told(self, arc: str, safe: Safe) -> None:
        """The reader of an arc told what is safe there."""
        known = self._known[arc]
        for level, positions in enumerate(safe):
            known[level] = farthest(known[level], positions)

    def truncation(self, arc: str) -> Positions:
        """Up to where the queue of an arc can be truncated."""
        return self._known[arc][self._k]

    def safe(self, arc: str, received: Positions) -> Safe:
        """What the writer of an arc is told."""
        found: list[Positions] = [dict(received)]
        for level in range(self._k):
            found.append(self._latest(level).done.get(arc, {}))
        return tuple(found)

    def forget(self) -> None:
        """Forget moments that nobody would go back to."""
        oldest = self._latest(self._k - 1) if self._k else self._moments[-1]
        while self._moments[0] is not oldest:
            self._moments.popleft()

    def _latest(self, level: int) -> Noted:
        """The latest moment behind which all is made again that is not safe at a level."""
        for moment in reversed(self._moments):
            if all(within(moment.sent.get(arc, {}), self._known[arc][level]) for arc in self._outputs):
                return moment
        return self._moments[0]

    @property
    def moments(self) -> int:
        """How many are kept."""
        return len(self._moments)


def at_output(k: int, received: Mapping[str, int]) -> Safe:
    """What an application tells, which does not fail: all that it has is safe, whoever fails."""
    return (dict(received),) * (k + 1)
