"""How many tuples per second the kernels take, on one core: `python -m benchmarks.kernels [--quick]`.

Each kernel takes Arrow batches of 1 M tuples in 1,000 groups, nearly in order, and returns Arrow batches and
its next state. In the same run, a plain baseline does a similar job without state, slack or order, to show
how fast this machine is. Then many tuples go through each kernel: memory and state must stay flat. The last
line is JSON; its speeds are those of the median train.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from benchmarks.saying import run, steps

from australis.algebra.boxes import Aggregate, AsOf, Box, BSort, Join, Map, Resample, Top
from australis.algebra.counters import BEFORE
from australis.algebra.order import Order
from australis.algebra.progress import Progress
from australis.algebra.schema import TS, Schema, parse_schema
from australis.kernels.kernel import CAUSE, Kernel, LocalTimes, State, Step
from australis.kernels.make import kernel_for
from australis.kernels.marks import InputMark, raised
from australis.kernels.progress import caused_rises
from australis.kernels.state import pack

GROUPS = 1_000
STEP_US = 1_000
"""Tuples come every millisecond of event time."""
DISORDER_US = 1_000_000
"""Up to a second too early or too late; a group has a tuple every second."""
SECOND_US = 1_000_000
TRADES = parse_schema("sid int, time timestamp, price double")
LONG_TRADES = parse_schema("sid long, time timestamp, note long")
TEXT_TRADES = parse_schema("sid string, time timestamp, note string")
HEARTBEATS = parse_schema("time timestamp")
LINES = parse_schema("time timestamp, line string")
REQUEST = "user=u([0-9]+)"
DOCUMENTS = parse_schema("time timestamp, document string")
BY_TIME = Order("time", slack=4, group_by=("sid",))


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    batch: int
    batches: int
    rounds: int
    long_run: int


FULL = Sizes(batch=1_000_000, batches=4, rounds=3, long_run=50_000_000)
QUICK = Sizes(batch=50_000, batches=3, rounds=1, long_run=500_000)


@dataclass(frozen=True)
class Measured:
    """The speeds of a kernel and its baseline, in million tuples per second, and what came out of a train."""

    name: str
    mtps: float
    best_mtps: float
    """For the median train, and for the fastest one: others may use the machine too."""
    baseline: str
    baseline_mtps: float
    emitted: int


# --- workloads


def trades(number: int, size: int, seed: int = 0) -> pa.Table:
    """Batch `number` of a stream of trades, always the same."""
    random = np.random.default_rng((seed, number))
    times = np.arange(number * size, (number + 1) * size) * STEP_US + random.integers(0, DISORDER_US, size)
    sids = random.integers(0, GROUPS, size).astype(np.int32)
    return table(TRADES, pa.array(sids), times, pa.array(random.normal(100.0, 10.0, size)))


def heartbeats(number: int, size: int) -> pa.Table:
    """One tuple per second, over the same time as a batch of trades."""
    span = size * STEP_US
    return table(HEARTBEATS, np.arange(number * span, (number + 1) * span, SECOND_US))


def request_lines(number: int, size: int) -> pa.Table:
    """Lines of a log of requests; one in two names a user."""
    random = np.random.default_rng(number)
    items, users = random.integers(0, 1_000, size), random.integers(0, 2 * GROUPS, size)
    words = (
        "GET /items/",
        pa.array(items).cast(pa.string()),
        pa.array(["?user=u", "?guest="]).take(users % 2),
    )
    lines = pc.binary_join_element_wise(*words, pa.array(users).cast(pa.string()), "&page=1 HTTP/1.1", "")
    return table(LINES, np.arange(number * size, (number + 1) * size) * STEP_US, lines)


def json_documents(number: int, size: int) -> pa.Table:
    """Reports of vans as JSON, with a nested object and an array."""
    random = np.random.default_rng(number)
    van, text = random.integers(0, GROUPS, size), pa.string()
    celsius = pc.round(pa.array(random.normal(5.0, 2.0, size)), 2)
    serial = pa.array(random.integers(0, 10**9, size))
    reading = ('[1, 2], "reading": {"unit": "C", "celsius": ', celsius.cast(text), ', "door": false}')
    parts = (
        '{"van": "v',
        pa.array(van).cast(text),
        '", "tags": ',
        *reading,
        ', "serial": ',
        serial.cast(text),
    )
    documents = pc.binary_join_element_wise(*parts, "}", "")
    return table(DOCUMENTS, np.arange(number * size, (number + 1) * size) * STEP_US, documents)


def table(schema: Schema, *columns: pa.Array | np.ndarray) -> pa.Table:
    """A batch; numpy columns are times, the first of which is also the ts."""
    stamp = schema.arrow_with_ts.field(TS).type
    times = next(column for column in columns if isinstance(column, np.ndarray))
    arrays = [pa.array(c).view(stamp) if isinstance(c, np.ndarray) else c for c in (*columns, times)]
    return pa.Table.from_arrays(arrays, schema=schema.arrow_with_ts)


# --- measuring


def seconds_of(run: Callable[[], int], rounds: int) -> list[float]:
    """The times of several runs."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return times


def fed(kernel: Kernel | ByProgress, trains: list[list[pa.Table]], rounds: int) -> tuple[list[float], int]:
    """Feed a kernel with trains, each a batch for each port, several times: times, tuples emitted."""
    times, emitted = [], 0
    for _ in range(rounds):
        state = kernel.start()
        for number, train in enumerate(trains):
            begin = time.perf_counter()
            state, emitted = taken(kernel, state, train, number)
            # The first train of a stream fills the buffers, and all groups are new.
            if number:
                times.append(time.perf_counter() - begin)
    return times, emitted


class ByProgress:
    """A kernel whose order is by progress, and the input that makes its marks from the tuples."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel, self._known = kernel, InputMark()
        self._progress = Progress("time", slack="1 s").bind(TRADES)

    def start(self) -> State:
        self._known = InputMark()
        return self._kernel.start()

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        batch = batch.append_column(pa.field(CAUSE, pa.int64(), False), pa.array(np.arange(batch.num_rows)))
        rises = caused_rises(self._progress, batch)
        marks, self._known = raised(self._progress, self._known, now, BEFORE, arrivals=rises)
        ((_, step),) = self._kernel.advance(state, {port: batch}, LocalTimes.at(now), {port: marks})
        return step


def taken(kernel: Kernel | ByProgress, state: State, train: list[pa.Table], now: int) -> tuple[State, int]:
    """The state after a train, and how many tuples the kernel emitted."""
    emitted = 0
    for port, batch in enumerate(train):
        step = kernel.step(state, port, batch, now)
        state, emitted = step.state, emitted + step.outputs[0].num_rows
    return state, emitted


def measured(
    name: str,
    box: Box,
    schemas: tuple[Schema, ...],
    trains: list[list[pa.Table]],
    baseline: Baseline,
    sizes: Sizes,
) -> Measured:
    """A kernel and its baseline over the same trains."""
    millions = sum(batch.num_rows for batch in trains[0]) / 1e6
    kernel = kernel_for(box, schemas)
    fed_kernel = ByProgress(kernel) if kernel.progress_on else kernel
    times, emitted = fed(fed_kernel, trains, sizes.rounds)
    beside = seconds_of(lambda: baseline.run(*trains[-1]), 2 * sizes.rounds + 1)
    speeds = (millions / median(times), millions / min(times))
    return Measured(name, *speeds, baseline.name, millions / median(beside), emitted)


@dataclass(frozen=True)
class Baseline:
    """A plain function that does a similar job over one train; returns the number of rows it made."""

    name: str
    run: Callable[..., int]


# --- the kernels and their baselines


def aggregate_box() -> Box:
    return Aggregate({"average": "avg(price)"}, BY_TIME, size="1 min")


def group_by_minute(batch: pa.Table) -> int:
    minutes = pc.divide(batch["time"].combine_chunks().view(pa.int64()), 60 * SECOND_US)
    grouped = batch.append_column("minute", minutes).group_by(["sid", "minute"], use_threads=False)
    return grouped.aggregate([("price", "mean"), (TS, "min")]).num_rows  # type: ignore[no-any-return]


def group_notes_by_minute(batch: pa.Table) -> int:
    minutes = pc.divide(batch["time"].combine_chunks().view(pa.int64()), 60 * SECOND_US)
    grouped = batch.append_column("minute", minutes).group_by(["sid", "minute"], use_threads=False)
    return grouped.aggregate([("note", "min"), ("note", "count")]).num_rows  # type: ignore[no-any-return]


def aggregate_by_progress_box() -> Box:
    order = Order("time", group_by=("sid",), by="progress")
    return Aggregate({"average": "avg(price)"}, order, size="1 min", align=True)


def session_box() -> Box:
    return Aggregate({"average": "avg(price)", "until": "last(time)"}, BY_TIME, session="3 s")


def sessions_by_lag(batch: pa.Table) -> int:
    """Sessions of the sorted batch, in the way that is usual in SQL."""
    database = duckdb.connect(config={"threads": 1})
    times = pc.cast(batch["time"], pa.int64())
    trades = pa.table({"sid": batch["sid"], "time": times, "price": batch["price"]})  # noqa: F841 - DuckDB reads it.
    query = f"""
        WITH gaps AS (
            SELECT *, time - lag(time) OVER (PARTITION BY sid ORDER BY time) >= {3 * SECOND_US} AS begins
            FROM trades
        ), numbered AS (
            SELECT *, count_if(begins) OVER (PARTITION BY sid ORDER BY time) AS session FROM gaps
        )
        SELECT sid, min(time), avg(price), max(time) FROM numbered GROUP BY sid, session
    """
    return database.sql(query).to_arrow_table().num_rows  # type: ignore[no-any-return]


def sort_by_time(batch: pa.Table) -> int:
    return batch.sort_by("time").num_rows  # type: ignore[no-any-return]


def join_box() -> Box:
    return Join("left.sid = right.sid", left=BY_TIME, right=BY_TIME, size="500 ms")


def search_sorted(left: pa.Table, right: pa.Table) -> int:
    """The pairs within half a second, by binary search in the right side sorted by group and time."""
    rows, partners = pairs_sorted(left, right)
    pairs = left.take(pa.array(rows)), right.take(pa.array(partners))
    return pairs[0].num_rows  # type: ignore[no-any-return]


def pairs_sorted(left: pa.Table, right: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """The rows of both sides that make pairs."""
    keys, others = (_by_group(side) for side in (left, right))
    order = np.argsort(others, kind="stable")
    others = others[order]
    low = np.searchsorted(others, keys - SECOND_US // 2, side="left")
    high = np.searchsorted(others, keys + SECOND_US // 2, side="right")
    counts = high - low
    rows = np.repeat(np.arange(len(keys)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, order[low[rows] + within]


def _by_group(side: pa.Table) -> np.ndarray:
    """Numbers in the order of group and time; groups are 2^48 us, nine years, apart."""
    times = side["time"].combine_chunks().view(pa.int64()).to_numpy()
    return side["sid"].to_numpy().astype(np.int64) * 2**48 + times


def outer_join_box() -> Box:
    return Join("left.sid = right.sid", left=BY_TIME, right=BY_TIME, size="500 ms", how="full")


def search_all_sorted(left: pa.Table, right: pa.Table) -> int:
    """The pairs within half a second as in `search_sorted`, and the rest of both sides with NULLs."""
    rows, partners = pairs_sorted(left, right)
    rest = [_without(side, found) for side, found in ((left, rows), (right, partners))]
    nobody = [np.full(len(each), -1) for each in rest]
    lefts = np.concatenate([rows, rest[0], nobody[1]])
    rights = np.concatenate([partners, nobody[0], rest[1]])
    taken = left.take(pa.array(lefts, mask=lefts < 0)), right.take(pa.array(rights, mask=rights < 0))
    return taken[0].num_rows  # type: ignore[no-any-return]


def _without(side: pa.Table, found: np.ndarray) -> np.ndarray:
    """The rows of a side that are not among those found."""
    alone = np.ones(side.num_rows, np.bool_)
    alone[found] = False
    return np.flatnonzero(alone)


def asof_box() -> Box:
    return AsOf(BY_TIME, BY_TIME, "left.sid = right.sid", within="1 min")


def asof_join_in_duckdb(left: pa.Table, right: pa.Table) -> int:
    text = "select * from l asof left join r on l.sid = r.sid and l.time >= r.time"
    return in_duckdb(text, l=left, r=right)


def in_duckdb(text: str, **tables: pa.Table) -> int:
    """The rows of a query's result as an Arrow table, on one thread."""
    with duckdb.connect() as connection:
        connection.execute("set threads to 1")
        for name, table in tables.items():
            connection.register(name, table.drop_columns([TS]))
        return connection.sql(text).to_arrow_table().num_rows  # type: ignore[no-any-return]


def resample_box() -> Box:
    functions = {"price": "linear(price)", "trades": "count(*)"}
    return Resample(functions, size="1 s", left=Order("time"), right=BY_TIME)


def group_by_second(beats: pa.Table, batch: pa.Table) -> int:
    seconds = pc.divide(batch["time"].combine_chunks().view(pa.int64()), SECOND_US)
    grouped = batch.append_column("second", seconds).group_by(["sid", "second"], use_threads=False)
    return grouped.aggregate([("price", "mean"), ("price", "count")]).num_rows  # type: ignore[no-any-return]


def regexp_box() -> Box:
    return Map({"time": "time", "user": f"regexp_extract(line, '{REQUEST}', 1)"})


def extract_users(batch: pa.Table) -> int:
    return len(pc.extract_regex(batch["line"], REQUEST.replace("(", "(?P<user>")))


def json_box() -> Box:
    return Map({"time": "time", "celsius": "get_json_object(document, '$.reading.celsius')"})


def extract_celsius(batch: pa.Table) -> int:
    database = duckdb.connect(config={"threads": 1})
    query = "SELECT json_extract_string(document, '$.reading.celsius') AS celsius FROM batch"
    return database.sql(query).to_arrow_table().num_rows  # type: ignore[no-any-return]


def top_n_box() -> Box:
    return Top(10, ("price DESC",), BY_TIME, size="1 min")


def sort_and_rank(batch: pa.Table) -> int:
    """The ten highest prices of each group and minute, by a sort and the distance from the first of each."""
    minutes = pc.divide(batch["time"].combine_chunks().view(pa.int64()), 60 * SECOND_US)
    keyed = batch.append_column("minute", minutes)
    by = [("sid", "ascending"), ("minute", "ascending"), ("price", "descending")]
    found = keyed.take(pc.sort_indices(keyed, sort_keys=by))
    keys = (found["sid"].to_numpy(), found["minute"].to_numpy())
    begins = np.flatnonzero(np.logical_or(*(np.diff(key, prepend=-1) != 0 for key in keys)))
    ranks = np.arange(len(found)) - np.repeat(begins, np.diff(begins, append=len(found)))
    return found.filter(pa.array(ranks < 10)).num_rows  # type: ignore[no-any-return]


def median_sliding_box() -> Box:
    return Aggregate({"median": "median(price)"}, BY_TIME, size="1 min", advance="10 s")


def median_by_windows(batch: pa.Table) -> int:
    """The same medians in SQL: each tuple is joined with the six windows that contain it."""
    database = duckdb.connect(config={"threads": 1})
    database.register("trades", batch.select(["sid", "time", "price"]))
    query = """
        SELECT sid, epoch_us(time) // 10000000 - step AS start, median(price) AS median
        FROM trades, range(6) AS steps(step) GROUP BY ALL
    """
    return len(database.execute(query).fetchnumpy()["median"])


def sliding_box(overlap: int) -> Box:
    """An average every second, over windows of which each tuple is in `overlap`."""
    return Aggregate({"average": "avg(price)"}, BY_TIME, size=f"{overlap} s", advance="1 s")


def average_by_range(batch: pa.Table) -> int:
    """The average of the last ten minutes at each tuple, in SQL."""
    text = """
        SELECT sid, time, avg(price) OVER (
            PARTITION BY sid ORDER BY time RANGE BETWEEN INTERVAL '599 seconds' PRECEDING AND CURRENT ROW
        ) AS average FROM trades
    """
    return in_duckdb(text, trades=batch)


def keyed(batch: pa.Table, *, texts: bool) -> pa.Table:
    """Trades with another key, a long or a text of 16 bytes, and a note of the same kind."""
    keys = pc.multiply(batch["sid"].cast(pa.int64()), 7_919_000_003)
    notes = pc.multiply(pc.round(batch["price"]).cast(pa.int64()), 7_919_000_003)
    columns = [_as_texts(keys), _as_texts(notes)] if texts else [keys, notes]
    schema = TEXT_TRADES if texts else LONG_TRADES
    return pa.table([columns[0], batch["time"], columns[1], batch[TS]], schema=schema.arrow_with_ts)


def _as_texts(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise("t-", pc.utf8_lpad(numbers.cast(pa.string()), 14, "0"), "")


def keyed_box(function: str) -> Box:
    return Aggregate({"result": function}, BY_TIME, size="1 min")


def all_measured(sizes: Sizes) -> Iterator[Measured]:
    """Every kernel, one by one."""
    numbers = range(sizes.batches)
    one = [[trades(number, sizes.batch)] for number in numbers]
    two = [[trades(n, sizes.batch), trades(n, sizes.batch, seed=1)] for n in numbers]
    beats = [[heartbeats(n, sizes.batch), trades(n, sizes.batch)] for n in numbers]
    group = Baseline("pyarrow group_by", group_by_minute)
    sort = Baseline("pyarrow sort_by", sort_by_time)
    search = Baseline("numpy sort, searchsorted", search_sorted)
    second = Baseline("pyarrow group_by", group_by_second)
    second_of_one = Baseline("pyarrow group_by", lambda batch: group_by_second(batch, batch))
    yield measured("aggregate", aggregate_box(), (TRADES,), one, group, sizes)
    yield measured("aggregate_by_progress", aggregate_by_progress_box(), (TRADES,), one, group, sizes)
    lag = Baseline("DuckDB lag, group by", sessions_by_lag)
    yield measured("session", session_box(), (TRADES,), one, lag, sizes)
    yield measured("bsort", BSort(BY_TIME), (TRADES,), one, sort, sizes)
    yield measured("join", join_box(), (TRADES, TRADES), two, search, sizes)
    full, latest = (
        Baseline("numpy sort, searchsorted", search_all_sorted),
        Baseline("DuckDB asof join", asof_join_in_duckdb),
    )
    yield measured("outer_join", outer_join_box(), (TRADES, TRADES), two, full, sizes)
    yield measured("asof", asof_box(), (TRADES, TRADES), two, latest, sizes)
    yield measured("resample", resample_box(), (HEARTBEATS, TRADES), beats, second, sizes)
    rank = Baseline("pyarrow sort, numpy rank", sort_and_rank)
    yield measured("top_n", top_n_box(), (TRADES,), one, rank, sizes)
    windows = Baseline("DuckDB median", median_by_windows)
    yield measured("median_sliding", median_sliding_box(), (TRADES,), one, windows, sizes)
    yield measured("sliding_1", sliding_box(1), (TRADES,), one, second_of_one, sizes)
    ranges = Baseline("DuckDB avg over a range", average_by_range)
    yield measured("sliding_600", sliding_box(600), (TRADES,), one, ranges, sizes)
    for name, schema, texts in (("long", LONG_TRADES, False), ("text", TEXT_TRADES, True)):
        trains = [[keyed(train[0], texts=texts)] for train in one]
        for part, function in (("keys", "count(*)"), ("values", "min(note)")):
            grouped = Baseline("pyarrow group_by", group_notes_by_minute)
            yield measured(f"{name}_{part}", keyed_box(function), (schema,), trains, grouped, sizes)
    lines = [[request_lines(number, sizes.batch)] for number in numbers]
    pattern = Baseline("pyarrow extract_regex", extract_users)
    yield measured("regexp", regexp_box(), (LINES,), lines, pattern, sizes)
    documents = [[json_documents(number, sizes.batch)] for number in numbers]
    access = Baseline("DuckDB json_extract_string", extract_celsius)
    yield measured("json", json_box(), (DOCUMENTS,), documents, access, sizes)


# --- the long run


@dataclass(frozen=True)
class LongRun:
    """The effect of many batches on memory and state: both after the second batch and at the end."""

    name: str
    tuples: int
    mtps: float
    rss_start_mb: float
    rss_end_mb: float
    state_start_bytes: int
    state_end_bytes: int


def long_run(name: str, kernel: Kernel, make: Callable[[int], list[pa.Table]], tuples_most: int) -> LongRun:
    """Trains made on the fly, through a kernel for a long time."""
    state: State = kernel.start()
    seconds, sampled = 0.0, (0.0, 0)
    tuples = number = 0
    while tuples < tuples_most:
        train = make(number)
        begin = time.perf_counter()
        state = taken(kernel, state, train, number)[0]
        seconds += time.perf_counter() - begin
        tuples, number = tuples + sum(batch.num_rows for batch in train), number + 1
        if number == 2:
            sampled = (rss_mb(), len(pack(state)))
    return LongRun(name, tuples, tuples / seconds / 1e6, sampled[0], rss_mb(), sampled[1], len(pack(state)))


def all_long_runs(sizes: Sizes) -> Iterator[LongRun]:
    """Every kernel for a long time, one by one."""
    size = sizes.batch

    def one(number: int) -> list[pa.Table]:
        return [trades(number, size, seed=2)]

    def two(number: int) -> list[pa.Table]:
        return [trades(number, size, seed=2), trades(number, size, seed=3)]

    def beats(number: int) -> list[pa.Table]:
        return [heartbeats(number, size), trades(number, size, seed=2)]

    yield long_run("aggregate", kernel_for(aggregate_box(), (TRADES,)), one, sizes.long_run)
    yield long_run("bsort", kernel_for(BSort(BY_TIME), (TRADES,)), one, sizes.long_run)
    yield long_run("join", kernel_for(join_box(), (TRADES, TRADES)), two, sizes.long_run)
    yield long_run("outer_join", kernel_for(outer_join_box(), (TRADES, TRADES)), two, sizes.long_run)
    yield long_run("asof", kernel_for(asof_box(), (TRADES, TRADES)), two, sizes.long_run)
    yield long_run("resample", kernel_for(resample_box(), (HEARTBEATS, TRADES)), beats, sizes.long_run)


def rss_mb() -> float:
    """The resident memory of this process, in MB, where Linux shows it."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# --- printing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small run, to check that everything works")
    sizes = QUICK if parser.parse_args().quick else FULL
    print(f"Million tuples per second; batches of {sizes.batch:,}, {GROUPS:,} groups, slack {BY_TIME.slack}")
    speeds = shown_speeds(sizes)
    found = {**speeds, **ratios(speeds), **shown_long_runs(sizes)}
    print(json.dumps(found))


def ratios(speeds: dict[str, float]) -> dict[str, float]:
    """How many times as long an overlap of 600 takes, and a text in place of a whole number."""
    pairs = {
        "sliding_600_x": ("sliding_1", "sliding_600"),
        "text_keys_x": ("long_keys", "text_keys"),
        "text_values_x": ("long_values", "text_values"),
    }
    return {
        name: round(speeds[f"{quick}_mtps"] / speeds[f"{slow}_mtps"], 2)
        for name, (quick, slow) in pairs.items()
    }


def shown_speeds(sizes: Sizes) -> dict[str, float]:
    """Print the speeds of all kernels; returns them for the last line."""
    found: dict[str, float] = {}
    print(f"{'':<22}{'kernel':>9}{'best':>9}{'baseline':>10}  {'which':<26}{'emitted per train':>18}")
    for each in steps("Measuring kernels", all_measured(sizes)):
        beside = f"{each.baseline_mtps:>10.1f}  {each.baseline:<26}"
        print(
            f"{each.name:<22}{each.mtps:>9.1f}{each.best_mtps:>9.1f}{beside}{each.emitted:>18,}", flush=True
        )
        found[f"{each.name}_mtps"] = round(each.mtps, 2)
        found[f"{each.name}_best_mtps"] = round(each.best_mtps, 2)
        found[f"{each.name}_baseline_mtps"] = round(each.baseline_mtps, 2)
    return found


def shown_long_runs(sizes: Sizes) -> dict[str, object]:
    """Print the effects of long runs on memory and state; returns them for the last line."""
    found: dict[str, object] = {}
    print(f"\n{'long run':<12}{'tuples':>12}{'M/s':>8}{'RSS, MB':>18}{'state, bytes':>26}")
    for ran in steps("Measuring long runs", all_long_runs(sizes)):
        rss = f"{ran.rss_start_mb:.0f} -> {ran.rss_end_mb:.0f}"
        state = f"{ran.state_start_bytes:,} -> {ran.state_end_bytes:,}"
        print(f"{ran.name:<12}{ran.tuples:>12,}{ran.mtps:>8.1f}{rss:>18}{state:>26}", flush=True)
        found[f"{ran.name}_long"] = {key: value for key, value in vars(ran).items() if key != "name"}
    return found


if __name__ == "__main__":
    run(main)
