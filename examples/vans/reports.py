"""Make reports of vans: JSON lines in a folder that grows, and the table of the vans.

Vans drive, stop for a while, speed now and then, fall silent for good, are refuelled, and are robbed of fuel
while they stand. Reports arrive out of order, by up to three seconds. The same seed makes the same reports.

    python examples/vans/reports.py work --vans 200 --rate 200 --duration 600      # all at once
    python examples/vans/reports.py work --live                                    # as time passes
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

BEGIN = "2026-03-01T08:00:00Z"
DELAY_S_MAX = 3.0
TANK = 70.0
DRIVERS = ("Ada", "Grace", "Linus", "Edsger", "Barbara", "Donald", "Frances", "Niklaus", "Radia", "Dennis")
DEPOTS = ("north", "east", "south", "west")

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Stream:
    """How many vans report for how long, and how fast their reports arrive."""

    vans: int
    tuples_per_s: float
    duration_s: float
    speed: float
    seed: int
    begin: datetime

    @property
    def step_s(self) -> float:
        """Between two reports of a van, on the clock on which they arrive."""
        return self.vans / self.tuples_per_s


class Fleet:
    """The state of all vans, and how it changes from one report of each to the next."""

    def __init__(self, count: int, chance: np.random.Generator) -> None:
        self.chance = chance
        self.names = np.array([f"v{number:05d}" for number in range(count)], object)
        self.lat, self.lon = chance.normal(59.3, 0.2, count), chance.normal(18.0, 0.4, count)
        self.heading = chance.random(count) * 2 * np.pi
        self.usual = chance.normal(75, 20, count).clip(30, 125)
        self.speed = self.usual.copy()
        self.fuel = chance.random(count) * 0.9 * TANK + 5
        self.stands_s = np.where(chance.random(count) < 0.3, chance.exponential(300, count), 0)
        self.is_silent = np.zeros(count, bool)

    def advance(self, seconds: float) -> None:
        """Let some time pass for every van."""
        self._stop_and_go(seconds)
        self._drive(seconds)
        self._steal_and_refuel(seconds)
        self.is_silent |= self._happens(seconds, 1 / 3600)

    def _happens(self, seconds: float, per_s: float) -> npt.NDArray[np.bool_]:
        return self.chance.random(len(self.names)) < 1 - np.exp(-seconds * per_s)

    def _stop_and_go(self, seconds: float) -> None:
        """Most stops are traffic lights, some are long."""
        count = len(self.names)
        halts = self._happens(seconds, 1 / 300) & (self.stands_s <= 0)
        long = self.chance.random(count) < 0.3
        stands_s = np.where(long, self.chance.exponential(600, count), self.chance.exponential(30, count))
        self.stands_s = np.where(halts, stands_s, self.stands_s - seconds).clip(0)

    def _drive(self, seconds: float) -> None:
        count = len(self.names)
        hurry = np.where(self._happens(seconds, 1 / 900), 1.6, 1.0)
        driven = (self.usual * hurry + self.chance.normal(0, 6, count)).clip(1)
        self.speed = np.where(self.stands_s > 0, 0.0, np.round(driven, 1))
        self.heading += self.chance.normal(0, 0.2, count)
        km = self.speed * seconds / 3600
        self.lat += km / 111 * np.cos(self.heading)
        self.lon += km / 57 * np.sin(self.heading)
        self.fuel -= km * 0.12

    def _steal_and_refuel(self, seconds: float) -> None:
        stands = self.stands_s > 0
        robbed = stands & self._happens(seconds, 1 / 1800) & (self.fuel > 15)
        self.fuel -= np.where(robbed, (self.fuel - 2).clip(10, 40), 0)
        refuelled = (stands & self._happens(seconds, 1 / 600)) | (self.fuel < 1)
        self.fuel = np.where(refuelled & ~robbed, TANK, self.fuel)

    def reports(self, at_us: npt.NDArray[np.int64], arrival_s: Numbers) -> pa.Table:
        """One report of each van that is not silent."""
        heard = ~self.is_silent
        columns = {
            "van": pa.array(self.names[heard], pa.string()),
            "at": pa.array(at_us[heard], pa.timestamp("us")),
            "lat": np.round(self.lat[heard], 5),
            "lon": np.round(self.lon[heard], 5),
            "speed": self.speed[heard],
            "fuel": np.round(self.fuel[heard], 1),
            "arrival_s": arrival_s[heard],
        }
        return pa.table(columns)


def arrivals(stream: Stream, slot_s: float) -> Iterator[pa.Table]:
    """The reports that arrive in each slot of time, in the order in which they arrive."""
    chance = np.random.default_rng(stream.seed)
    fleet = Fleet(stream.vans, chance)
    phase = chance.random(stream.vans) * stream.step_s
    begin_us = int(stream.begin.timestamp() * 1e6)
    waiting: list[pa.Table] = []
    ticks = round(stream.duration_s / stream.step_s)
    due_s = slot_s
    for tick in range(ticks):
        fleet.advance(stream.step_s * stream.speed)
        sent_s = tick * stream.step_s + phase
        at_us = begin_us + (sent_s * stream.speed * 1e6).astype(np.int64)
        waiting.append(fleet.reports(at_us, sent_s + _delays(chance, stream.vans)))
        while due_s <= tick * stream.step_s:
            ready, rest = _split(waiting, due_s)
            waiting = [rest]
            due_s += slot_s
            yield ready
    while waiting and waiting[0].num_rows:
        ready, rest = _split(waiting, due_s)
        waiting = [rest]
        due_s += slot_s
        yield ready


def _delays(chance: np.random.Generator, count: int) -> Numbers:
    """Most reports arrive within a tenth of a second, one of twenty takes up to three."""
    slow = chance.random(count) < 0.05
    return chance.random(count) * np.where(slow, DELAY_S_MAX, 0.1)


def _split(waiting: list[pa.Table], due_s: float) -> tuple[pa.Table, pa.Table]:
    """What has arrived by a point in time, in order, and the rest."""
    table = pa.concat_tables(waiting)
    has_arrived = pc.less(table["arrival_s"], due_s)
    ready = table.filter(has_arrived).sort_by("arrival_s")
    return ready.drop_columns("arrival_s"), table.filter(pc.invert(has_arrived))


def json_lines(table: pa.Table) -> bytes:
    """A table as JSON lines."""
    parts: list[object] = []
    for name in table.column_names:
        parts += [f'{"," if parts else "{"}"{name}":', *_json(table[name])]
    lines = pc.binary_join_element_wise(*parts, "}\n", "")
    return b"".join(lines.cast(pa.binary()).to_pylist())


def _json(column: pa.ChunkedArray) -> tuple[object, ...]:
    if pa.types.is_timestamp(column.type):
        return '"', pc.strftime(column, format="%Y-%m-%dT%H:%M:%SZ"), '"'
    if pa.types.is_string(column.type):
        return '"', column, '"'
    return (column.cast(pa.string()),)


def write_vans(folder: Path, count: int, seed: int) -> None:
    """The table of the vans: who drives it, and where it belongs."""
    chance = np.random.default_rng(seed)
    drivers, depots = chance.choice(DRIVERS, count), chance.choice(DEPOTS, count)
    rows = [f"v{number:05d},{drivers[number]},{depots[number]}\n" for number in range(count)]
    (folder / "vans.csv").write_text("van,driver,depot\n" + "".join(rows))


def write_reports(folder: Path, stream: Stream, file_s: float, *, live: bool) -> int:
    """Write a file for each slot of time; live, each when its slot has passed."""
    incoming = folder / "incoming"
    incoming.mkdir(exist_ok=True)
    written, began = 0, time.monotonic()
    for number, table in enumerate(arrivals(stream, file_s)):
        if live:
            time.sleep(max(0.0, began + (number + 1) * file_s - time.monotonic()))
        unfinished = incoming / f"{number:06d}.tmp"
        unfinished.write_bytes(json_lines(table))
        unfinished.rename(incoming / f"{number:06d}.jsonl")
        written += table.num_rows
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description="Make reports of vans.")
    parser.add_argument("folder", type=Path, help="where vans.csv and the folder incoming are written")
    parser.add_argument("--vans", type=int, default=5000)
    parser.add_argument("--rate", type=float, default=5000, help="reports a second, of all vans together")
    parser.add_argument("--duration", type=float, default=60, help="for how many seconds reports arrive")
    parser.add_argument("--speed", type=float, default=1, help="seconds of the vans' time in one second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--begin", default=BEGIN, help="the time of the first report")
    parser.add_argument("--file-every", type=float, default=1, help="how many seconds go into a file")
    parser.add_argument("--live", action="store_true", help="write each file when its time has passed")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    write_vans(given.folder, given.vans, given.seed)
    begin = datetime.fromisoformat(given.begin).astimezone(UTC)
    stream = Stream(given.vans, given.rate, given.duration, given.speed, given.seed, begin)
    written = write_reports(given.folder, stream, given.file_every, live=given.live)
    print(f"{written:,} reports of {given.vans:,} vans")


if __name__ == "__main__":
    main()
