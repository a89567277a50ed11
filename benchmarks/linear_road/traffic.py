"""Traffic of Linear Road: cars that report every 30 seconds, always the same for a seed.

    python -m benchmarks.linear_road.traffic --expressways 2 --from-minute 150 --folder traffic

An expressway has 100 segments of a mile, two directions, three lanes between an entry (lane 0) and an exit
(4). Cars enter, travel some segments and leave; the more there are in a segment, the slower they are. Once in
20 minutes two cars collide and stand for 10 to 20 minutes; others break down for a while. So many cars are on
an expressway that reports grow with the root of time, from few to 1,700 a second after three hours: 12
million in all, as in the published data. One report in a hundred comes with a request: half of them for the
balance of the car, a tenth for what it spent on a day of the last ten weeks, the rest for a travel time. Some
cars come back, perhaps on another expressway.
"""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PERIOD_S = 30
"""How long a car waits between two reports: a round, in which every car reports once."""
DURATION_S = 3 * 60 * 60
SETTLE_S = 45 * 60
"""So long before the first report that is wanted, traffic begins; nearly all trips are shorter."""
SEGMENTS, MILE_FT = 100, 5280
ENTRY, EXIT = 0, 4
FT_PER_MPH = 44
"""How far a car comes between two reports at a mile per hour."""
REPORTS_PER_S = 1700
"""On an expressway, after three hours."""
SEGMENTS_MEAN = 10
"""How many segments a trip has on average."""
FREE_MPH, SLOW_MPH = 62, 24
"""The speeds of a lonely car and of one in a crowd."""
REQUESTS = 0.01
BALANCE, EXPENDITURE, TRAVEL_TIME = 2, 3, 4
SHARES = {BALANCE: 0.5, EXPENDITURE: 0.1, TRAVEL_TIME: 0.4}
DAYS = 69
RETURNING = 0.05
"""The share of cars that enter under the number of a car that has left."""
FIRST_VID = 100
COLUMNS = (
    *("type", "time", "vid", "spd", "xway", "lane", "dir", "seg"),
    *("pos", "qid", "s_init", "s_end", "dow", "tod", "day"),
)
SCHEMA = pa.schema([pa.field(name, pa.int32()) for name in COLUMNS])
LZ4 = pa.ipc.IpcWriteOptions(compression="lz4")
Ints = np.ndarray


@dataclass(frozen=True)
class Shape:
    """What is generated."""

    expressways: int = 1
    seed: int = 1
    reports_per_s: float = REPORTS_PER_S
    accident_every_s: int = 20 * 60
    crowd: float = 220
    """With so many cars in a segment, their speed is halfway between the two."""
    breakdowns: float = 2e-5
    """How likely a car breaks down from one report to the next."""
    duration_s: int = DURATION_S

    def cars(self, time_s: int) -> int:
        """How many cars an expressway has at a time."""
        return round(self.reports_per_s * PERIOD_S * (max(time_s, 1) / self.duration_s) ** 0.5)


@dataclass
class Cars:
    """The cars on all expressways, a row for each; how far they have come is counted in their direction."""

    vid: Ints
    xway: Ints
    dir: Ints
    phase: Ints
    """The second of a round at which a car reports."""
    along: Ints
    leaves_at: Ints
    lane: Ints
    spd: Ints
    temper: np.ndarray
    """How fast a car is beside the others."""
    stands: Ints
    """For how many reports more it stands."""
    is_new: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    @staticmethod
    def none() -> Cars:
        return Cars(*(np.zeros(0, np.int32) for _ in range(8)), np.zeros(0), *_nothing())

    def columns(self) -> dict[str, np.ndarray]:
        return dict(vars(self))

    def taken(self, rows: np.ndarray) -> Cars:
        """Some of the cars."""
        return Cars(**{name: column[rows] for name, column in self.columns().items()})

    def joined(self, others: Cars) -> Cars:
        """These and others."""
        own, more = self.columns(), others.columns()
        return Cars(**{name: np.concatenate([own[name], more[name]]) for name in own})

    @property
    def mile(self) -> Ints:
        """The segment of each car, counted in its direction."""
        return self.along // MILE_FT

    @property
    def stretch(self) -> Ints:
        """A number for expressway, direction and segment together."""
        return (self.xway * 2 + self.dir) * SEGMENTS + self.mile


def _nothing() -> tuple[Ints, np.ndarray]:
    return np.zeros(0, np.int32), np.zeros(0, bool)


class Traffic:
    """All rounds in turn."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._random = np.random.default_rng(shape.seed)
        self._cars = Cars.none()
        self._next_vid, self._next_qid = FIRST_VID, 1
        self._gone: list[Ints] = []
        rounds = max(1, shape.accident_every_s // PERIOD_S)
        self._accident_every, self._accident_at = rounds, self._random.integers(0, rounds, shape.expressways)
        middle = self._random.uniform(20, 80, 2 * shape.expressways)
        miles = np.abs(np.arange(SEGMENTS)[None, :] - middle[:, None])
        # Many more enter near the middle of a town than far from it.
        self._entries = np.cumsum(1.5 + np.exp(-((miles / 18) ** 2)), axis=1)
        self._entries /= self._entries[:, -1:]

    def rounds(self, first: int = 0) -> Iterator[pa.Table]:
        """The traffic of the rounds from one on, after others in which it settles."""
        for number in range(max(0, first - SETTLE_S // PERIOD_S), self._shape.duration_s // PERIOD_S):
            self._move()
            self._enter(number)
            self._collide(number)
            table = self._reports(number, wanted=number >= first)
            if table is not None:
                yield table
            self._leave()

    def _move(self) -> None:
        cars, random = self._cars, self._random
        cars.is_new = np.zeros(len(cars.vid), bool)
        many = np.bincount(cars.stretch, minlength=self._shape.expressways * 2 * SEGMENTS)
        slow = np.zeros(len(many), bool)
        slow[cars.stretch[cars.stands > 0]] = True
        pace = SLOW_MPH + (FREE_MPH - SLOW_MPH) / (1 + (many / self._shape.crowd) ** 3)
        pace *= np.where(slow, 0.6, 1.0)
        spd = pace[cars.stretch] * cars.temper + random.normal(0, 3, len(cars.vid))
        breaks = (random.random(len(cars.vid)) < self._shape.breakdowns) & (cars.lane != ENTRY)
        cars.stands = np.where(breaks & (cars.stands == 0), random.integers(1, 7, len(breaks)), cars.stands)
        is_standing = cars.stands > 0
        cars.spd = np.where(is_standing, 0, np.clip(spd, 3, 100)).astype(np.int32)
        cars.stands = np.maximum(cars.stands - 1, 0).astype(np.int32)
        cars.along = np.minimum(cars.along + cars.spd * FT_PER_MPH, cars.leaves_at)
        changes = ((random.random(len(cars.vid)) < 0.2) | (cars.lane == ENTRY)) & ~is_standing
        cars.lane = np.where(changes, random.integers(1, 4, len(cars.vid)), cars.lane).astype(np.int32)
        cars.lane[cars.along == cars.leaves_at] = EXIT

    def _enter(self, number: int) -> None:
        wanted = self._shape.cars((number + 1) * PERIOD_S)
        missing = wanted - np.bincount(self._cars.xway, minlength=self._shape.expressways)
        count = int(np.maximum(missing, 0).sum())
        random, xway = self._random, np.repeat(np.arange(len(missing)), np.maximum(missing, 0))
        direction = random.integers(0, 2, count)
        keys = xway * 2 + direction + random.random(count)
        steps = (self._entries + np.arange(len(self._entries))[:, None]).ravel()
        mile = np.minimum(np.searchsorted(steps, keys, "right") % SEGMENTS, SEGMENTS - 2)
        length = 1 + random.exponential(SEGMENTS_MEAN - 1, count).astype(np.int64)
        leaves = np.minimum(mile + length, SEGMENTS - 1) * MILE_FT + random.integers(2000, MILE_FT, count)
        new = {
            "vid": self._numbers(count),
            "xway": xway,
            "dir": direction,
            "phase": random.integers(0, PERIOD_S, count),
            "along": mile * MILE_FT + random.integers(0, 1000, count),
            "leaves_at": leaves,
            "lane": np.full(count, ENTRY),
            "spd": random.integers(10, 40, count),
            "stands": np.zeros(count),
        }
        ints = {name: column.astype(np.int32) for name, column in new.items()}
        temper = random.normal(1, 0.12, count)
        self._cars = self._cars.joined(Cars(**ints, temper=temper, is_new=np.ones(count, bool)))

    def _numbers(self, count: int) -> Ints:
        """The numbers of cars that enter: new ones, and some of cars that left more than a minute ago."""
        again = self._gone.pop(0)[: int(count * RETURNING)] if len(self._gone) > 3 else np.zeros(0, np.int32)
        fresh = np.arange(self._next_vid, self._next_vid + count - len(again), dtype=np.int32)
        self._next_vid += len(fresh)
        return self._random.permutation(np.concatenate([again, fresh]))

    def _collide(self, number: int) -> None:
        due = np.flatnonzero(number % self._accident_every == self._accident_at)
        if not len(due):
            return
        cars = self._cars
        drives = (cars.stands == 0) & (cars.spd > 0) & (cars.lane != ENTRY) & (cars.lane != EXIT)
        for xway in due:
            able = np.flatnonzero(drives & (cars.xway == xway))
            if len(able):
                self._crash(able)

    def _crash(self, able: Ints) -> None:
        """A car runs into one that is ahead of it in its segment; both stand."""
        cars = self._cars
        ahead = self._random.choice(able)
        near = able[(cars.stretch[able] == cars.stretch[ahead]) & (able != ahead)]
        near = near[(cars.along[near] <= cars.along[ahead]) & (cars.leaves_at[near] > cars.along[ahead])]
        if not len(near):
            return
        both = np.array([ahead, self._random.choice(near)])
        cars.along[both], cars.lane[both], cars.spd[both] = cars.along[ahead], cars.lane[ahead], 0
        cars.stands[both] = 3 + self._random.integers(20, 41)

    def _reports(self, number: int, *, wanted: bool) -> pa.Table | None:
        """What arrives in a round: the reports in order of time, with a request after some of them."""
        order = np.argsort(self._cars.phase.astype(np.uint8), kind="stable")
        asks = np.flatnonzero((self._random.random(len(order)) < REQUESTS) & ~self._cars.is_new[order])
        kinds = self._random.choice(list(SHARES), len(asks), p=list(SHARES.values()))
        qids = np.arange(self._next_qid, self._next_qid + len(asks))
        self._next_qid += len(asks)
        draws = self._random.integers(0, 1 << 30, (3, len(asks)))
        if not wanted:
            return None
        cars = self._cars.taken(order)
        time = number * PERIOD_S + cars.phase
        pos = np.where(cars.dir == 0, cars.along, SEGMENTS * MILE_FT - 1 - cars.along)
        reports = {
            "type": np.zeros(len(time)),
            "time": time,
            "vid": cars.vid,
            "spd": cars.spd,
            "xway": cars.xway,
            "lane": cars.lane,
            "dir": cars.dir,
            "seg": pos // MILE_FT,
            "pos": pos,
        }
        requests = {
            "type": kinds,
            "time": time[asks],
            "vid": cars.vid[asks],
            "qid": qids,
            **self._asked(kinds, cars.vid[asks], draws),
        }
        places = np.arange(len(asks)) + asks + 1
        return _merged(reports, requests, places)

    def _asked(self, kinds: Ints, vids: Ints, draws: Ints) -> dict[str, Ints]:
        """What requests ask for, where they ask for it."""
        day, travels = 1 + draws[0] % DAYS, kinds == TRAVEL_TIME
        spent = xway_on(vids, day, self._shape.expressways)
        return {
            "xway": np.where(
                kinds == EXPENDITURE, spent, np.where(travels, draws[0] % len(self._entries) // 2, -1)
            ),
            "s_init": np.where(travels, draws[1] % SEGMENTS, -1),
            "s_end": np.where(travels, draws[2] % SEGMENTS, -1),
            "dow": np.where(travels, 1 + draws[1] % 7, -1),
            "tod": np.where(travels, 1 + draws[2] % 1440, -1),
            "day": np.where(kinds == EXPENDITURE, day, -1),
        }

    def _leave(self) -> None:
        stays = self._cars.lane != EXIT
        self._gone.append(self._cars.vid[~stays])
        self._cars = self._cars.taken(stays)


def _merged(reports: dict[str, Ints], requests: dict[str, Ints], places: Ints) -> pa.Table:
    """Reports in their order with requests at some places of the result; -1 where one has no value."""
    count = len(reports["type"]) + len(places)
    is_report = np.ones(count, bool)
    is_report[places] = False
    columns = []
    for name in COLUMNS:
        column = np.full(count, -1, np.int32)
        if name in reports:
            column[is_report] = reports[name]
        if name in requests:
            column[places] = requests[name]
        columns.append(pa.array(column))
    return pa.table(columns, schema=SCHEMA)


def xway_on(vids: Ints, day: Ints, expressways: int) -> Ints:
    """The expressway on which a car was on an earlier day."""
    return (vids + 7 * day) % expressways


def history(vids: Ints, expressways: int, seed: int = 1) -> pa.Table:
    """What some cars have paid on each of the last ten weeks."""
    cars = np.unique(vids)
    vid, day = np.repeat(cars, DAYS), np.tile(np.arange(1, DAYS + 1), len(cars))
    toll = np.random.default_rng(seed).integers(0, 100, len(vid))
    columns = {"vid": vid, "day": day, "xway": xway_on(vid, day, expressways), "toll": toll}
    return pa.table({name: pa.array(column.astype(np.int32)) for name, column in columns.items()})


def write_history(folder: Path, table: pa.Table) -> None:
    """Write the table of earlier days as the database that the network names, and as a file for others."""
    pq.write_table(table, folder / "history.parquet")
    with closing(sqlite3.connect(folder / "history.db")) as database, database:
        columns = ", ".join(f"{name} integer not null" for name in table.column_names)
        key = "primary key (vid, day, xway)"
        database.execute(f"create table history ({columns}, {key}) without rowid")
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        database.executemany("insert into history values (?, ?, ?, ?)", rows)


def write(folder: Path, shape: Shape, from_s: int = 0) -> tuple[int, Path]:
    """Write the traffic from a time on, a batch for each round; how many tuples it is, and the file."""
    file = folder / "traffic.arrow"
    written = 0
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, SCHEMA, options=LZ4) as writer:
        for table in Traffic(shape).rounds(from_s // PERIOD_S):
            writer.write_table(table.combine_chunks())
            written += len(table)
    return written, file


def main(arguments: Sequence[str] | None = None) -> None:
    """Write traffic as a file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--expressways", type=int, default=1)
    parser.add_argument("--from-minute", type=int, default=0, help="the first minute that is written (0)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("linear_road"))
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    shape = Shape(expressways=given.expressways, seed=given.seed)
    count, file = write(given.folder, shape, 60 * given.from_minute)
    print(f"{count} tuples in {file}")


if __name__ == "__main__":
    main()
