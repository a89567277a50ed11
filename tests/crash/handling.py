"""How a child is started, killed and waited for."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.child import READY, WORKING
from tests.crash.kills import DAEMON, DRIVER, JVM, START, WORKER, Kill
from tests.crash.processes import daemons, jvms, kill, kill_all, workers

from australis.engine.crash_points import LOG_VARIABLE, VARIABLE
from australis.engine.runner import SPARK

SECONDS_MOST = 300.0
"""A child that takes longer hangs."""
TARGETS: dict[str, Callable[[int], list[int]]] = {JVM: jvms, DAEMON: daemons, WORKER: workers}


@dataclass(frozen=True)
class Ended:
    """How a child ended, and what was killed meanwhile."""

    is_done: bool
    was_killed: bool
    hung: bool
    seconds: float
    last_words: str
    kills: Counter[str] = field(default_factory=Counter)


class Child:
    """One process on a root, in a session of its own with its JVM, if it has one, and workers."""

    def __init__(
        self, scenario: str, seed: int, events: int, folder: Path, runner: str = SPARK, root: str = ""
    ) -> None:
        self._command = [
            sys.executable,
            "-m",
            "tests.crash.child",
            scenario,
            str(seed),
            str(events),
            str(folder),
            runner,
            *([root] if root else []),
        ]
        self._folder = folder
        self._errors, self._log = folder / "child.stderr", folder / "crashes"
        self._said = {word: threading.Event() for word in (READY, WORKING)}

    def run(self, given: Kill | None) -> Ended:
        """Start it, kill it as planned, and wait until it has ended.

        A killed driver leaves a JVM and workers behind, which find out by themselves; the next child meets
        them.
        """
        self._log.unlink(missing_ok=True)
        began = time.monotonic()
        process = self._start(given)
        killed = self._disturb(process, given) if given else Counter[str]()
        hung = self._wait(process)
        killed.update(self._logged())
        code, seconds = process.returncode, time.monotonic() - began
        return Ended(code == 0, code == -signal.SIGKILL, hung, seconds, self._last_words(), killed)

    def _start(self, given: Kill | None) -> subprocess.Popen[str]:
        with open(self._errors, "wb") as errors:
            process = subprocess.Popen(
                self._command,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=self._environment(given),
                start_new_session=True,
            )
        threading.Thread(target=self._listen, args=(process,), daemon=True).start()
        return process

    def _environment(self, given: Kill | None) -> dict[str, str]:
        point = given.environment if given else ""
        return {**os.environ, VARIABLE: point, LOG_VARIABLE: str(self._log)}

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                self._said[line.strip()].set()
        for word in self._said.values():
            word.set()

    def _disturb(self, process: subprocess.Popen[str], given: Kill) -> Counter[str]:
        """Kill what is to be killed, at its moment; a child that has ended before stays as it is."""
        killed: Counter[str] = Counter()
        if not given.is_point:
            self._strike_often(process, given, killed)
        if given.driver_after is not None:
            self._said[WORKING].wait(SECONDS_MOST)
            if not _ended_within(process, given.driver_after):
                killed[DRIVER] += kill(process.pid)
        return killed

    def _strike_often(self, process: subprocess.Popen[str], given: Kill, killed: Counter[str]) -> None:
        if given.what != START:
            self._said[given.since].wait(SECONDS_MOST)
        for _ in range(given.times):
            if _ended_within(process, given.seconds):
                return
            killed[given.what] += self._strike(process.pid, given.what)

    def _strike(self, pid: int, what: str) -> int:
        if what in (DRIVER, START):
            return kill(pid)
        found = TARGETS[what](pid)
        return kill(random.choice(found)) if found else 0

    def _wait(self, process: subprocess.Popen[str]) -> bool:
        """Whether it had to be ended, since it did not end by itself; it says first where it stands."""
        if _ended_within(process, SECONDS_MOST):
            return False
        os.kill(process.pid, signal.SIGUSR1)
        _ended_within(process, 2.0)
        kill_all(self._folder)
        process.wait()
        return True

    def _logged(self) -> list[str]:
        """The crash points at which processes ended."""
        if not self._log.exists():
            return []
        return [line.split()[0] for line in self._log.read_text().splitlines()]

    def _last_words(self) -> str:
        return "\n".join(self._errors.read_text(errors="replace").splitlines()[-60:])


def _ended_within(process: subprocess.Popen[str], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True
