"""How long the threads of this process and its descendants ran, and how long they waited for a processor.

On a machine that does other work, a response time contains such waits. Linux only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine.processes import family


@dataclass(frozen=True)
class Used:
    """Seconds of all threads together, of those that are still there."""

    ran_s: float
    waited_s: float

    def __sub__(self, before: Used) -> Used:
        return Used(self.ran_s - before.ran_s, self.waited_s - before.waited_s)

    def __truediv__(self, seconds: float) -> Used:
        return Used(self.ran_s / seconds, self.waited_s / seconds)


def used() -> Used:
    """What has been used so far."""
    ran, waited = 0, 0
    for pid in family():
        for file in Path(f"/proc/{pid}/task").glob("[0-9]*/schedstat"):
            try:
                own, delay, _ = map(int, file.read_text().split())
            except (OSError, ValueError):
                continue  # it has ended meanwhile
            ran, waited = ran + own, waited + delay
    return Used(ran / 1e9, waited / 1e9)
