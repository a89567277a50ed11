"""Crash points: named places in the commit path where a test can kill a process, as a power failure would.

They do nothing unless the environment names one: `AUSTRALIS_CRASH=train.committed:3` means the third time it
is reached. Each process killed in this way adds a line to the file that `AUSTRALIS_CRASH_LOG` names.
"""

from __future__ import annotations

import os
import signal

VARIABLE, LOG_VARIABLE = "AUSTRALIS_CRASH", "AUSTRALIS_CRASH_LOG"
POINTS = (
    "root.epoch",
    "root.owned",
    "deploy.recorded",
    "deploy.rewriting",
    "deploy.rewritten",
    "change.held",
    "change.prepared",
    "change.switching",
    "change.switched",
    "ingest.written",
    "ingest.committed",
    "task.read",
    "task.writing",
    "task.written",
    "train.ran",
    "train.committing",
    "train.changed",
    "ledger.committed",
    "ledger.buried",
    "train.committed",
    "compaction.swapping",
    "compaction.swapped",
    "merge.writing",
    "merge.swapping",
    "merge.swapped",
    "history.written",
    "history.committed",
    "history.published",
    "consumer.acknowledging",
    "consumer.acknowledged",
    "root.released",
)
"""All names, in the order in which a tuple passes them."""

COPY_POINTS = ("copy.putting", "copy.put", "copy.snapshot", "copy.pruned")
"""The names of those that are only passed where commits are copied to the root."""

_reached: dict[str, int] = {}


def crash_point(name: str) -> None:
    """Kill this process if the environment asks for it here."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    _reached[name] = _reached.get(name, 0) + 1
    if wanted == f"{name}:{_reached[name]}":
        _note(name)
        os.kill(os.getpid(), signal.SIGKILL)


def _note(name: str) -> None:
    if log := os.environ.get(LOG_VARIABLE):
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{name} {os.getpid()}\n")
