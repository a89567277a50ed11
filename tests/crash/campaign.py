"""The crash test: children are killed again and again until they end, and what they wrote is compared.

`python -m tests.crash.campaign --kills 200 --seed 1 --runner light`. The seed decides on the events, the
kills, and the scenario and the crash point that come first, so that short campaigns with many seeds meet all
of them. It plans the same kills again; when exactly a process ends is up to the machine. After each child the
root is verified, as by `australis verify`. Each scenario also runs once undisturbed, and is held to the
reference. The last line is JSON; the exit code is 1 if a tuple was lost,
duplicated or wrong, if something was found wrong with a root, or if a child hung or failed where nobody had
killed it.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from itertools import cycle
from pathlib import Path

from tests.crash.child import CATALOG_FOLDER, CHANGES, counted
from tests.crash.comparing import Difference, compare
from tests.crash.handling import Child, Ended
from tests.crash.kills import Kill, driver_kills, first_kills, kills
from tests.crash.processes import kill_all, left_of
from tests.crash.reference import compare_with_reference
from tests.crash.scenarios import ON_SPARK, SCENARIOS, UNORDERED, scenario
from tests.objects.server import S3Server

from australis.engine.crash_points import COPY_POINTS, POINTS
from australis.engine.observe import verify
from australis.engine.runner import LIGHT, SPARK
from australis.engine.store import CATALOG


@dataclass
class Campaign:
    """What was done so far, and what came of it."""

    wanted: int
    seed: int
    events: int
    folder: Path
    seconds: float = math.inf
    """After so long nothing more is killed, if anything was."""
    runner: str = SPARK
    server: S3Server | None = None
    """Where the roots are, if not in the folder."""
    losses: int = 0
    """How many times the driver's disk is to be lost."""
    lost_disks: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    counted: int = 0
    """Kills towards those that are wanted: of one child only some, lest those of workers be most of them."""
    difference: Difference = field(default_factory=Difference)
    failures: list[str] = field(default_factory=list)
    findings: int = 0
    """What was found wrong with roots; orphans of a crash are no findings."""
    orphans: int = 0
    roots: int = 0
    changes: int = 0
    """Networks that were changed, and queries that came or went."""
    children: int = 0
    began: float = field(default_factory=time.monotonic)

    def run(self, names: list[str]) -> None:
        """Kill children on one root after another until there are enough kills."""
        planned = driver_kills(self.seed) if self.server else kills(self.seed, self.runner)
        expected: dict[str, Path] = {}
        for name in cycle(names):
            if self._is_enough:
                return
            if name not in expected:
                expected[name] = self._undisturbed(name)
            self._root(name, expected[name], planned)

    @property
    def _is_enough(self) -> bool:
        is_late = time.monotonic() - self.began > self.seconds
        is_done = self.counted >= self.wanted and self.lost_disks >= self.losses
        return is_done or (is_late and self.counted > 0)

    def _child(self, name: str, folder: Path) -> Child:
        root = self.server.uri(folder.name) if self.server else ""
        return Child(name, self.seed, self.events, folder, self.runner, root)

    def _undisturbed(self, name: str) -> Path:
        folder = self._new(f"{name}-undisturbed")
        ended = self._child(name, folder).run(None)
        self._say(f"{name}: undisturbed, {ended.seconds:.1f} s")
        if not ended.is_done:
            raise SystemExit(f"an undisturbed run failed:\n{ended.last_words}")
        found = compare_with_reference(scenario(name, self.seed, self.events), folder)
        self._sum(name, "as the reference", found)
        return folder

    def _root(self, name: str, expected: Path, planned: Iterator[Kill]) -> None:
        """One root: kill and restart until a child comes to its end."""
        folder = self._new(f"{name}-{self.roots}")
        pending = first_kills(name, self.roots)
        self.roots += 1
        while True:
            kill = None if self._is_enough else pending.pop() if pending else next(planned)
            ended = self._child(name, folder).run(kill)
            self._count(name, kill, ended)
            self._verify(name, kill, folder)
            self._lose_disk(name, folder)
            if ended.is_done:
                break
            if len(self.failures) > FAILURES_MOST:
                return
        self._compare(name, expected, folder)

    def _count(self, name: str, kill: Kill | None, ended: Ended) -> None:
        self.kills.update(ended.kills)
        self.counted += min(ended.kills.total(), COUNTED_OF_A_CHILD)
        self.children += 1
        told = "done" if ended.is_done else "killed" if ended.was_killed else "ended"
        self._say(f"{self.counted}/{self.wanted} {name}: {kill}; {told}, {ended.seconds:.1f} s")
        if ended.hung or not (ended.is_done or ended.kills):
            self.failures.append(f"{name}, {kill}: {'hung' if ended.hung else 'failed'}")
            self._say(f"{self.failures[-1]}\n{ended.last_words}")

    def _lose_disk(self, name: str, folder: Path) -> None:
        """Delete all that the driver had on its disk: after every other child, as long as it is wanted."""
        place = folder / CATALOG_FOLDER
        if self.lost_disks < self.losses and self.children % 2 and (place / CATALOG).exists():
            shutil.rmtree(place)
            self.lost_disks += 1
            self._say(f"{name}: disk {self.lost_disks}/{self.losses} is lost")

    def _verify(self, name: str, kill: Kill | None, folder: Path) -> None:
        """Look through the root before the next child opens it, if a child lived long enough to make one."""
        catalog = folder / (CATALOG_FOLDER if self.server else "root")
        if not (catalog / CATALOG).exists():
            return
        found = verify(self.server.uri(folder.name), catalog=catalog) if self.server else verify(catalog)
        self.orphans += len(found.orphans)
        self.findings += len(found.findings)
        for each in found.findings:
            self._say(f"{name}, {kill}: found {each}")

    def _compare(self, name: str, expected: Path, folder: Path) -> None:
        found = compare(expected, folder, is_ordered=name not in UNORDERED)
        self.changes += counted(folder / CHANGES)
        if not self._sum(name, "as undisturbed", found):
            shutil.rmtree(folder)

    def _sum(self, name: str, good: str, found: dict[str, Difference]) -> Difference:
        """Count the differences of a run."""
        total = sum(found.values(), Difference())
        self.difference += total
        self._say(f"{name}: {found if total else good}")
        return total

    def clean(self) -> None:
        """End what is left of the children, though there should be nothing."""
        for process in left_of(self.folder, SECONDS_TO_END):
            self.failures.append(f"left running: {' '.join(process.command)[:200]}")
        kill_all(self.folder)

    def _new(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(parents=True)
        return folder

    def _say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.began:6.0f} s] {text}", flush=True)  # noqa: T201

    def report(self) -> dict[str, object]:
        return {
            "kills": self.kills.total(),
            "points": dict(sorted(self.kills.items())),
            "missed": [point for point in self._points() if not self.kills[point]],
            "disks lost": self.lost_disks,
            **asdict(self.difference),
            "findings": self.findings,
            "orphans": self.orphans,
            "roots": self.roots,
            "changes": self.changes,
            "children": self.children,
            "failures": self.failures,
            "seed": self.seed,
            "runner": self.runner,
            "seconds": round(time.monotonic() - self.began),
        }

    def _points(self) -> tuple[str, ...]:
        """The points at which processes are killed, of which there may be none where drivers are."""
        return COPY_POINTS if self.server else POINTS


FAILURES_MOST = 3
COUNTED_OF_A_CHILD = 8
SECONDS_TO_END = 30.0
"""So long a JVM and Python workers may outlive their driver."""


def in_turn(seed: int) -> list[str]:
    """All scenarios; which of them is first depends on the seed."""
    names = list(SCENARIOS)
    first = seed % len(names)
    return names[first:] + names[:first]


def again(given: argparse.Namespace) -> str:
    """The command that plans the same kills, however long they take."""
    numbers = [f"--{name}={getattr(given, name)}" for name in ("kills", "seed", "events")]
    scenarios = [f"--scenario={name}" for name in given.scenario or ()]
    command = shlex.join([sys.executable, "-m", "tests.crash.campaign", *numbers, *scenarios])
    return f"seed of the crash campaign: {given.seed} (to repeat: {command})"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", type=int, default=240, help="of each scenario")
    parser.add_argument("--seconds", type=float, default=math.inf, help="kill no more after so long")
    parser.add_argument("--scenario", choices=SCENARIOS, action="append", help="default: all")
    parser.add_argument("--runner", choices=(SPARK, LIGHT), default=SPARK)
    parser.add_argument("--root", choices=("disk", "s3"), default="disk", help="s3: kill drivers only")
    parser.add_argument("--losses", type=int, default=0, help="lose the driver's disk so often; with s3")
    parser.add_argument("--folder", type=Path, help="where roots are kept that went wrong")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="australis-crash-"))
    server = S3Server(folder / "s3") if given.root == "s3" else None
    campaign = Campaign(
        given.kills, given.seed, given.events, folder, given.seconds, given.runner, server, given.losses
    )
    print(again(given))  # noqa: T201
    names = [name for name in in_turn(given.seed) if given.runner == SPARK or name not in ON_SPARK]
    try:
        with server or nullcontext():
            campaign.run(given.scenario or names)
    finally:
        campaign.clean()
    good = not (campaign.difference or campaign.failures or campaign.findings)
    if not good:
        print(again(given))  # noqa: T201
    elif given.folder is None:
        shutil.rmtree(folder)
    print(json.dumps(campaign.report()))  # noqa: T201
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
