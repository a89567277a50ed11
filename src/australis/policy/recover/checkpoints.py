"""What a server may discard: k-safety from arrays of sequence numbers (section 6.2).

Tuples are safe at level 0 once the next server has received them. They are safe at level j if a server never
needs them again, even if it and the next j - 1 servers downstream fail together: it can return to a
checkpoint from which it reproduces everything that is not safe at level j - 1 downstream. So what is safe at
level k survives k failures downstream, and the upstream queue may be truncated up to there.

None of this is ever revoked: a rebuilt server produces the same tuples again, so that what was once known to
be safe stays safe, and messages about it may be lost, delayed or duplicated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from australis.policy.recover.flow import Noted
from australis.policy.recover.positions import Positions, farthest, within

Safe = tuple[Positions, ...]
"""What is safe on an arc, at the levels 0 to k."""


class Checkpoints:
    """The checkpoints that a server can return to, and what follows for its upstream servers.

    >>> server = Checkpoints(1, ["in"], ["out"])
    >>> server.note(Noted({"out": {"p": 7}}, {"in": {"p": 5}}))
    >>> server.safe("in", {"p": 8})
    ({'p': 8}, {})
    >>> server.told("out", ({"p": 7}, {"p": 0}))
    >>> server.safe("in", {"p": 8})
    ({'p': 8}, {'p': 5})
    """

    def __init__(self, k: int, inputs: Iterable[str], outputs: Iterable[str]) -> None:
        self._k = k
        self._inputs, self._outputs = tuple(inputs), tuple(outputs)
        self.known: dict[str, list[dict[str, int]]] = {arc: [{} for _ in range(k + 1)] for arc in outputs}
        """What is safe on each arc, at each level, as its reader reported."""
        self.moments: deque[Noted] = deque([Noted({}, {})])

    def note(self, moment: Noted) -> None:
        """Add a checkpoint that the server can return to."""
        self.moments.append(moment)

    def told(self, arc: str, safe: Safe) -> None:
        """Note what the reader of an arc reports as safe there."""
        known = self.known[arc]
        for level, positions in enumerate(safe):
            known[level] = farthest(known[level], positions)

    def truncation(self, arc: str) -> Positions:
        """Up to where the queue of an arc can be truncated."""
        return self.known[arc][self._k]

    def safe(self, arc: str, received: Positions) -> Safe:
        """What to report to the writer of an arc."""
        found: list[Positions] = [dict(received)]
        for level in range(self._k):
            found.append(self._latest(level).done.get(arc, {}))
        return tuple(found)

    def forget(self) -> None:
        """Discard checkpoints that will never be returned to."""
        oldest = self._latest(self._k - 1) if self._k else self.moments[-1]
        while self.moments[0] is not oldest:
            self.moments.popleft()

    def _latest(self, level: int) -> Noted:
        """The latest checkpoint from which everything not safe at a level is produced again."""
        for moment in reversed(self.moments):
            if all(within(moment.sent.get(arc, {}), self.known[arc][level]) for arc in self._outputs):
                return moment
        return self.moments[0]

    def resume(self, known: dict[str, list[dict[str, int]]], moments: Iterable[Noted]) -> None:
        """Continue with what was known."""
        self.known, self.moments = known, deque(moments)
