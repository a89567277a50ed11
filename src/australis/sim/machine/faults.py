"""What fails in a run: which operations fail or stall, and where a life crashes."""

from __future__ import annotations

from random import Random

from australis.sim.machine.chance import Chances

_DEVICES = {"commit": "database", "statement": "database"}
"""Operations that fail together: a database that cannot commit may not answer either."""


class Faults:
    """Decides by a seed, and counts what happened.

    >>> faults = Faults(1, Chances(sync=1.0))
    >>> faults.fails("sync"), faults.fails("open"), faults.counts
    (True, False, {'sync': 1})
    >>> faults.stop()
    >>> faults.fails("sync")
    False
    """

    def __init__(self, seed: int, chances: Chances) -> None:
        self.chances = chances
        self.counts: dict[str, int] = {}
        """How often each thing happened."""
        # The text is that of the first version: another one would change what every seed does.
        self.random = Random(f"mischief {seed}")
        """Decides the effects of a failure or a power loss."""
        self._is_on = True
        self._failed_last: dict[str, bool] = {}

    def stop(self) -> None:
        """Let nothing fail from now on."""
        self._is_on = False

    def fails(self, kind: str) -> bool:
        """Whether an operation of a kind fails this time."""
        if not self._is_on:
            return False
        device = _DEVICES.get(kind, kind)
        again = self._failed_last.get(device, False)
        chance = max(getattr(self.chances, kind), self.chances.again if again else 0.0)
        failed = chance > 0 and self.random.random() < chance
        self._failed_last[device] = failed
        if failed:
            self.count(kind)
        return failed

    def stall_ns(self) -> int:
        """How long an operation takes beyond its switch point; mostly 0."""
        if not (self._is_on and self.chances.stall and self.random.random() < self.chances.stall):
            return 0
        self.count("stall")
        return self.random.randrange(1 + self.chances.stall_ms_most) * 1_000_000

    def plan_crash(self) -> int | None:
        """The switch point at which a new life crashes, counted from 1, if it does."""
        happened = self.counts.get("power loss", 0) + self.counts.get("kill", 0)
        if not self._is_on or happened >= self.chances.crashes:
            return None
        # Every second life crashes early, since recovery is short and must survive crashes too.
        within = self.chances.crash_within // self.random.choice((1, 20))
        return self.random.randint(1, max(1, within))

    def is_kill(self) -> bool:
        """Whether a crash ends only the process."""
        return self.random.random() < self.chances.kill

    def count(self, what: str) -> None:
        """Count something that happened."""
        self.counts[what] = self.counts.get(what, 0) + 1
