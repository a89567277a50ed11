"""Sessions, as-of and outer joins, first tuples and percentiles of real files, beside DuckDB over the whole.

Each runs on the file as it is and on the same tuples, each delayed by a random time within the slack.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from against_duckdb import RESULT, are_equal, database, on_kernels
from tests.data import files, networks

from australis import Network, NetworkBuilder, Order, Progress, Stream
from australis.algebra.network import Input

BATCH = 5_000


@pytest.fixture(params=[False, True], ids=["as it is", "shuffled"])
def is_shuffled(request: pytest.FixtureRequest) -> bool:
    """Whether tuples arrive at random within the slack instead of as they stand in the file."""
    return bool(request.param)


def arriving(table: pa.Table, on: str, slack: int, *, is_shuffled: bool) -> pa.Table:
    """A table in order of arrival, with the number of its place."""
    if is_shuffled:
        at = table[on].cast(pa.int64()).to_numpy()
        table = table.take(np.argsort(at + np.random.default_rng(5).random(len(at)) * slack, kind="stable"))
    return table.append_column("arrived", pa.array(np.arange(len(table))))


def assert_as_duckdb(network: Network, tables: dict[str, pa.Table], sql: str) -> pa.Table:
    """Nothing is late, and the rows are those that DuckDB finds, which it returns."""
    found, late = on_kernels(network, tables, BATCH)
    with database(tables) as connection:
        expected = connection.sql(sql).to_arrow_table()
    assert late == 0
    assert len(expected) > 5
    assert are_equal(found, expected)
    return expected


def log(data: Path, *, is_shuffled: bool) -> tuple[dict[str, pa.Table], Input]:
    """The connections of two days, which are written up to half a day after they started."""
    given = networks.connections(0).inputs["conn"]
    day = 86_400_000_000
    return {"conn": arriving(files.read(data / "net_rita", given), "ts", day, is_shuffled=is_shuffled)}, given


def connections() -> NetworkBuilder:
    return NetworkBuilder("connections")


def test_sessions_of_connections(data_dir: Path, is_shuffled: bool) -> None:
    tables, given = log(data_dir, is_shuffled=is_shuffled)
    net = connections()
    conn = net.input("conn", given.schema, progress=Progress("ts", slack="1 d"))
    order = Order("ts", by="progress", group_by=("source",))
    conn.aggregate({"n": "count(*)", "until": "max(ts)"}, order, session="5 min").output(RESULT)
    sql = """
        SELECT min(ts) AS ts, source, count(*) AS n, max(ts) AS until
        FROM (
            SELECT *, count(*) FILTER (WHERE starts) OVER (PARTITION BY source ORDER BY ts) AS session
            FROM (
                SELECT *, ts >= lag(ts, 1, '1970-01-01') OVER (PARTITION BY source ORDER BY ts)
                    + INTERVAL 5 MINUTE AS starts
                FROM conn
            )
        )
        GROUP BY source, session"""
    assert_as_duckdb(net.build(), tables, sql)


def test_the_busiest_sources_of_each_hour(data_dir: Path, is_shuffled: bool) -> None:
    """Counts by group, then the first of each hour: without progress, the second order guesses a slack."""
    tables, given = log(data_dir, is_shuffled=is_shuffled)
    net = connections()
    conn = net.input("conn", given.schema, progress=Progress("ts", slack="1 d"))
    hourly = Order("ts", by="progress", group_by=("source",))
    counts = conn.aggregate(
        {"n": "count(*)", "peers": "count(DISTINCT destination)"}, hourly, "1 h", align=True
    )
    best = counts.top(3, ["n DESC", "source"], Order("ts", by="progress"), "1 h", align=True)
    best.map({"ts": "ts", "source": "source", "n": "n", "peers": "peers", "rank": "rank"}).output(RESULT)
    sql = """
        SELECT date_trunc('hour', ts) AS ts, source, count(*) AS n, count(DISTINCT destination) AS peers,
            row_number() OVER (
                PARTITION BY date_trunc('hour', conn.ts) ORDER BY count(*) DESC, source
            ) AS rank
        FROM conn
        GROUP BY date_trunc('hour', conn.ts), source
        QUALIFY rank <= 3"""
    assert_as_duckdb(net.build(), tables, sql)


@pytest.mark.parametrize("session", [False, True])
def test_chosen_and_collected_values_of_connections(data_dir: Path, session: bool) -> None:
    """In windows of an hour, one every 10 minutes, and in sessions; equal keys and times by arrival."""
    tables, given = log(data_dir, is_shuffled=True)
    net = connections()
    conn = net.input("conn", given.schema, progress=Progress("ts", slack="1 d"))
    functions = {
        "low": "first(destination ORDER BY port, source DESC)",
        "high": "last(destination ORDER BY port DESC, ts) FILTER (WHERE port < 1024)",
        "peers": "array_join(collect_list(destination, 4), ' ')",
        "ports": "array_join(collect_set(CAST(port AS string), 5) FILTER (WHERE port > 79), ' ')",
    }
    order = Order("ts", by="progress", group_by=("source",))
    windows = {"session": "5 min"} if session else {"size": "1 h", "advance": "10 min", "align": True}
    conn.aggregate(functions, order, **windows).output(RESULT)
    by_session = """
        SELECT *, first_value(ts) OVER (PARTITION BY source, session ORDER BY ts) AS start
        FROM (
            SELECT *, count(*) FILTER (WHERE starts) OVER (PARTITION BY source ORDER BY ts) AS session
            FROM (
                SELECT *, ts >= lag(ts, 1, '1970-01-01') OVER (PARTITION BY source ORDER BY ts)
                    + INTERVAL 5 MINUTE AS starts
                FROM conn
            )
        )"""
    by_time = """
        SELECT *, unnest(range(time_bucket(INTERVAL 10 MINUTE, ts) - INTERVAL 50 MINUTE,
            ts + INTERVAL 1 MICROSECOND, INTERVAL 10 MINUTE)) AS start
        FROM conn"""
    sql = f"""
        SELECT start AS ts, source,
            first(destination ORDER BY port NULLS LAST, source DESC, ts, arrived) AS low,
            last(destination ORDER BY port DESC NULLS LAST, ts, arrived) FILTER (WHERE port < 1024) AS high,
            array_to_string(
                (list(destination ORDER BY ts, arrived) FILTER (WHERE destination IS NOT NULL))[:4], ' '
            ) AS peers,
            coalesce(array_to_string(
                (list(port ORDER BY ts, arrived) FILTER (WHERE port > 79 AND is_new))[:5], ' '
            ), '') AS ports
        FROM (
            SELECT *, row_number() OVER (PARTITION BY source, start, port ORDER BY ts, arrived) = 1 AS is_new
            FROM ({by_session if session else by_time})
        )
        GROUP BY source, start"""
    assert_as_duckdb(net.build(), tables, sql)


def test_percentiles_of_manufacturing(data_dir: Path, is_shuffled: bool) -> None:
    """Over the last 10 seconds, every second, of 100 readings a second."""
    given = networks.manufacturing().inputs["readings"]
    table = files.read(data_dir / "debs" / "debs2012.tsv.gz", given)
    tables = {"readings": arriving(table, "ts", 1_000_000, is_shuffled=is_shuffled)}
    net = NetworkBuilder("manufacturing")
    readings = net.input("readings", given.schema, progress=Progress("ts", slack="1 s"))
    percentiles = {"p50": "median(power)", "p99": "percentile(power, 0.99)", "n": "count(*)"}
    order = Order("ts", by="progress")
    readings.aggregate(percentiles, order, "10 s", advance="1 s", align=True).output(RESULT)
    sql = """
        SELECT start AS ts, median(power) AS p50, quantile_cont(power, 0.99) AS p99, count(*) AS n
        FROM (
            SELECT power, unnest(range(
                time_bucket(INTERVAL 1 SECOND, ts) - INTERVAL 9 SECOND,
                ts + INTERVAL 1 MICROSECOND, INTERVAL 1 SECOND)) AS start
            FROM readings
        )
        GROUP BY start"""
    assert_as_duckdb(net.build(), tables, sql)


TICKS_PER_MS = 10_000


def ticks(data: Path, stock: str, kind: str, *, is_shuffled: bool) -> pa.Table:
    """Ticks of a day; `at` is the millisecond and the place within it, so that no two are equal."""
    table = files.read(
        data / "stocks" / f"{stock}_20131007_{kind}.zip", networks.ticks()[kind].inputs["ticks"]
    )
    ms = table["ms"].to_numpy().astype(np.int64)
    place = np.arange(len(ms)) - np.searchsorted(ms, ms)
    assert place.max() < TICKS_PER_MS
    kept = table.select(["bid", "ask"] if kind == "quote" else ["price", "size"])
    kept = kept.add_column(0, pa.field("at", pa.int64(), nullable=False), pa.array(ms * TICKS_PER_MS + place))
    return arriving(kept, "at", 2_000 * TICKS_PER_MS, is_shuffled=is_shuffled)


def stock_streams(net: NetworkBuilder, **schemas: str) -> list[Stream]:
    progress = Progress("at", slack=2_000 * TICKS_PER_MS)
    return [
        net.input(name, f"at long not null, {schema}", progress=progress) for name, schema in schemas.items()
    ]


@pytest.mark.parametrize("stock", ["ibm", "bac"])
def test_the_quote_at_each_trade(stock: str, data_dir: Path, is_shuffled: bool) -> None:
    tables = {
        "trades": ticks(data_dir, stock, "trade", is_shuffled=is_shuffled),
        "quotes": ticks(data_dir, stock, "quote", is_shuffled=is_shuffled),
    }
    net = NetworkBuilder("trades")
    trades, quotes = stock_streams(net, trades="price int, size int", quotes="bid int, ask int")
    order = Order("at", by="progress")
    quoted = trades.asof(quotes, left=order, right=order)
    names = {
        "at": "left_at",
        "price": "price",
        "size": "size",
        "quoted": "right_at",
        "bid": "bid",
        "ask": "ask",
    }
    quoted.map(names).output(RESULT)
    sql = """
        SELECT t.at, t.price, t.size, q.at AS quoted, q.bid, q.ask
        FROM trades t ASOF LEFT JOIN quotes q ON t.at >= q.at"""
    assert_as_duckdb(net.build(), tables, sql)


def test_seconds_in_which_one_of_two_stocks_was_traded(data_dir: Path, is_shuffled: bool) -> None:
    """A full outer join of two aggregates."""
    tables = {stock: ticks(data_dir, stock, "trade", is_shuffled=is_shuffled) for stock in ("ibm", "bac")}
    net = NetworkBuilder("seconds")
    order = Order("at", by="progress")
    ibm, bac = (
        stream.aggregate({"n": "count(*)", "volume": "sum(size)"}, order, 1_000 * TICKS_PER_MS, align=True)
        for stream in stock_streams(net, ibm="price int, size int", bac="price int, size int")
    )
    both = ibm.join(bac, "left.at = right.at", size=0, left=order, right=order, how="full")
    names = {"ibm": "left_n", "ibm_volume": "left_volume", "bac": "right_n", "bac_volume": "right_volume"}
    both.map({"at": "coalesce(left_at, right_at)", **names}).output(RESULT)
    second = '"at" // 10000000 * 10000000'
    counts = f"SELECT {second} AS second, count(*) AS n, sum(size)::BIGINT AS volume FROM %s GROUP BY second"
    sql = f"""
        SELECT coalesce(i.second, b.second) AS at, i.n AS ibm, i.volume AS ibm_volume, b.n AS bac,
            b.volume AS bac_volume
        FROM ({counts % "ibm"}) i FULL JOIN ({counts % "bac"}) b USING (second)"""
    expected = assert_as_duckdb(net.build(), tables, sql)
    alone = expected["ibm"].null_count, expected["bac"].null_count
    assert min(alone) > 100, "an outer join without tuples that are alone shows nothing"


def test_voyages_of_vessels_in_any_order(data_dir: Path) -> None:
    """Positions of a day in no order at all: with a slack of a day, none is late."""
    net = NetworkBuilder("vessels")
    schema = "MMSI long, BaseDateTime timestamp not null, SOG double"
    positions = net.input("positions", schema, progress=Progress("BaseDateTime", slack="1 d"))
    order = Order("BaseDateTime", by="progress", group_by=("MMSI",))
    measured = {
        "n": "count(*)",
        "fastest": "max(SOG)",
        "p90": "percentile(SOG, 0.9)",
        "until": "max(BaseDateTime)",
    }
    positions.aggregate(measured, order, session="20 min").output(RESULT)
    network = net.build()
    table = files.vessels(data_dir, network.inputs["positions"])
    tables = {"positions": arriving(table, "BaseDateTime", 0, is_shuffled=False)}
    sql = """
        SELECT min(BaseDateTime) AS BaseDateTime, MMSI, count(*) AS n, max(SOG) AS fastest,
            quantile_cont(SOG, 0.9) AS p90, max(BaseDateTime) AS until
        FROM (
            SELECT *, count(*) FILTER (WHERE starts) OVER (PARTITION BY MMSI ORDER BY BaseDateTime) AS session
            FROM (
                SELECT *, BaseDateTime >= lag(BaseDateTime, 1, '1970-01-01')
                    OVER (PARTITION BY MMSI ORDER BY BaseDateTime) + INTERVAL 20 MINUTE AS starts
                FROM positions
            )
        )
        GROUP BY MMSI, session"""
    assert pc.any(
        pc.less(table["BaseDateTime"].slice(1), table["BaseDateTime"].slice(0, len(table) - 1))
    ).as_py()
    assert_as_duckdb(network, tables, sql)


def test_rides_per_hour_with_a_slack_by_length(data_dir: Path, is_shuffled: bool) -> None:
    given = networks.rides().inputs["cars"]
    table = files.read(data_dir / "arroyo" / "cars.json.gz", given)
    tables = {"cars": arriving(table, "timestamp", 3_600_000_000, is_shuffled=is_shuffled)}
    net = NetworkBuilder("rides")
    cars = net.input("cars", given.schema, progress=Progress("timestamp", slack="1 h"))
    order = Order("timestamp", by="progress", group_by=("event_type",))
    cars.aggregate({"count": "count(*)"}, order, "1 h", align=True).output(RESULT)
    sql = """
        SELECT date_trunc('hour', "timestamp") AS "timestamp", event_type, count(*) AS count
        FROM cars
        GROUP BY date_trunc('hour', cars."timestamp"), event_type"""
    assert_as_duckdb(net.build(), tables, sql)
