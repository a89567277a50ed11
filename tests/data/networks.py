"""Networks for the real data: what other systems computed, as boxes and arrows."""

from __future__ import annotations

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order

BIDS = "auction long, bidder long, price long, date_time timestamp"
AUCTIONS = "id long, seller long, category int, date_time timestamp, expires timestamp"
PEOPLE = "id long, name string, city string, state string, date_time timestamp"
DAY = "1 d"


def nexmark_stateless() -> Network:
    """NEXMark q0 (pass through), q1 (currency conversion) and q2 (selection)."""
    net = NetworkBuilder("nexmark_stateless")
    bids = net.input("bid", BIDS)
    bids.output("q0")
    converted = {"auction": "auction", "bidder": "bidder", "price": "price * 0.908", "date_time": "date_time"}
    bids.map(converted).output("q1")
    chosen = bids.filter("auction IN (1007, 1020, 2001, 2019, 2087)")
    chosen.map({"auction": "auction", "price": "price"}).output("q2")
    return net.build()


def nexmark_q3() -> Network:
    """Sellers in certain states: a join of auctions and people, within a day of each other."""
    net = NetworkBuilder("nexmark_q3")
    auctions = net.input("auction", AUCTIONS).filter("category = 10")
    people = net.input("person", PEOPLE).filter("state IN ('or', 'id', 'ca')")
    order = Order("date_time")
    sold = auctions.join(people, "left.seller = right.id", size=DAY, left=order, right=order)
    sold.map({"name": "name", "city": "city", "state": "state", "id": "left_id"}).output("q3")
    return net.build()


def nexmark_q4() -> Network:
    """The average closing price of a category: the best bid of each open auction, averaged over a day."""
    net = NetworkBuilder("nexmark_q4")
    bids, auctions = net.input("bid", BIDS), net.input("auction", AUCTIONS)
    during = "left.auction = right.id AND left.date_time BETWEEN right.date_time AND right.expires"
    valid = bids.join(auctions, during, size=DAY, left=Order("date_time"), right=Order("date_time"))
    narrow = valid.map(
        {"day": "date_trunc('DAY', left_date_time)", "id": "id", "category": "category", "price": "price"}
    )
    best = narrow.aggregate(
        {"final": "max(price)"}, Order("day", group_by=("id", "category")), DAY, align=True
    )
    average = best.aggregate({"average": "avg(final)"}, Order("day", group_by=("category",)), DAY, align=True)
    average.map({"category": "category", "average": "average"}).output("q4")
    return net.build()


def nexmark_q5() -> Network:
    """Hot items: the auctions with the most bids in each 10 s, every 2 s."""
    net = NetworkBuilder("nexmark_q5")
    by_auction = Order("date_time", group_by=("auction",))
    counts = net.input("bid", BIDS).aggregate(
        {"num": "count(*)"}, by_auction, "10 s", advance="2 s", align=True
    )
    in_order = counts.wsort("date_time", timeout="1 h")
    most = in_order.aggregate({"most": "max(num)"}, Order("date_time"), "1 us")
    same = "left.date_time = right.date_time AND left.num >= right.most"
    hot = in_order.join(most, same, size="0 s", left=Order("date_time"), right=Order("date_time"))
    hot.map({"auction": "auction", "num": "num"}).output("q5")
    return net.build()


def rides() -> Network:
    """Rides per hour and event type, and per hour stamped with the end of the hour."""
    net = NetworkBuilder("rides")
    cars = net.input("cars", "timestamp timestamp, driver_id int, event_type string, location string")
    hourly = Order("timestamp", slack=1, group_by=("event_type",))
    cars.aggregate({"count": "count(*)"}, hourly, "1 h", align=True).output("by_event_type")
    total = cars.aggregate({"count": "count(*)"}, Order("timestamp", slack=1), "1 h", align=True)
    total.map({"count": "count", "timestamp": "timestamp + INTERVAL 1 HOUR"}).output("per_hour")
    return net.build()


def segment_statistics() -> Network:
    """Linear Road: the average speed of the last five minutes in a segment, for each car that enters it."""
    net = NetworkBuilder("linear_road")
    raw = net.input(
        "positions",
        "time int, car int, speed int, highway int, lane int, direction int, position int",
        format={"csv": {"header": False, "separator": "blanks"}},
    )
    reports = raw.map(
        {
            "t": "time - 1",
            "car": "car",
            "speed": "speed",
            "direction": "direction",
            "segment": "CAST(position div 5280 AS int)",
        },
        as_="reports",
    )
    road = ("direction", "segment")
    averages = reports.aggregate(
        {"speed": "avg(speed)"}, Order("t", group_by=road), 300, advance=60, align=True, as_="averages"
    )
    lav = averages.map(
        {"t": "t", "direction": "direction", "segment": "segment", "lav": "CAST(floor(speed + 0.5) AS int)"}
    )
    each_car = Order("Tup#", group_by=("car",))
    now = {"t": "last(t)", "direction": "last(direction)", "segment": "last(segment)"}
    first = reports.aggregate(now, each_car, 1, advance=1_000_000_000, as_="first_reports")
    before = {"t_before": "first(t)", "segment_before": "first(segment)"}
    pairs = reports.slide({**now, **before}, 2, order=each_car, as_="report_pairs")
    moved = pairs.filter("segment <> segment_before OR t - t_before > 60", as_="moved")
    kept = {"t": "t", "car": "car", "direction": "direction", "segment": "segment"}
    entries = first.map(kept).union(moved.map(kept), as_="entries").output("entries")
    place = "left.direction = right.direction AND left.segment = right.segment"
    here = f"{place} AND left.t div 60 * 60 - 300 = right.t"
    tolls = entries.join(lav, here, size=359, left=Order("t"), right=Order("t", group_by=road), as_="tolls")
    tolls.map({"car": "car", "t": "left_t", "lav": "lav"}).output("tolls")
    return net.build()


def connections(slack: int) -> Network:
    """Zeek connections counted per minute of their start; a row is written at a connection's end."""
    net = NetworkBuilder("connections")
    log = net.input(
        "conn",
        "ts timestamp not null, source string, destination string, port int",
        format={
            "zeek": {"columns": {"source": "id.orig_h", "destination": "id.resp_h", "port": "id.resp_p"}}
        },
    )
    log.aggregate({"n": "count(*)"}, Order("ts", slack=slack), "1 min", align=True, as_="minutes").output(
        "minutes"
    )
    return net.build()


def ticks() -> dict[str, Network]:
    """Quotes and trades as they are published: without a header, in an archive for each day."""
    schemas = {
        "quote": "ms int, bid int, bid_size int, ask int, ask_size int, exchange string, condition string, "
        "suspicious int",
        "trade": "ms int, price int, size int, exchange string, condition string, suspicious int",
    }
    found = {}
    for kind, schema in schemas.items():
        net = NetworkBuilder(kind)
        net.input("ticks", schema, format={"csv": {"header": False}}).output("ticks")
        found[kind] = net.build()
    return found


def manufacturing() -> Network:
    """The sensors of a machine: the first of the 56 columns of a file without a header."""
    net = NetworkBuilder("manufacturing")
    others = [f"column_{number}" for number in range(4, 57)]
    columns = ["ts", "index", "power", *others]
    net.input(
        "readings",
        "ts timestamp not null, index long not null, power int",
        format={"csv": {"header": False, "columns": columns}},
    ).output("readings")
    return net.build()


def quoted_trades() -> Network:
    """Each trade with the quote of its exchange that was valid when it was made."""
    net = NetworkBuilder("quoted_trades")
    trades = net.input("trade", "n int, ms int, price int, size int, exchange string")
    quotes = net.input("quote", "m int, ms int, bid int, ask int, exchange string")
    trades.asof(quotes, "left.exchange = right.exchange", left=Order("ms"), right=Order("ms")).map(
        {"n": "n", "m": "m"}
    ).output("latest")
    trades.asof(
        quotes, "left.exchange = right.exchange", left=Order("ms"), right=Order("ms"), within=500, how="inner"
    ).map({"n": "n", "m": "m"}).output("recent")
    quiet = trades.join(
        quotes, "left.exchange = right.exchange", size=1000, left=Order("ms"), right=Order("ms"), how="anti"
    )
    quiet.map({"n": "n"}).output("quiet")
    return net.build()
