"""The network of vans.yaml, built in Python: the same boxes, with the waiting times as arguments.

australis check examples/vans/vans.py:network
australis explain examples/vans/vans.py:network --output vans.svg
"""

from australis import Network, NetworkBuilder, Order, Quality, Stream, ValueGraph

REPORT = {
    "van": "string not null",
    "at": "timestamp not null",
    "lat": "double",
    "lon": "double",
    "speed": "double",
    "fuel": "double",
}
VAN = {"van": "string not null", "driver": "string not null", "depot": "string not null"}
BY_VAN = Order("at", slack=20, group_by=("van",))
NEXT = Order("Tup#", group_by=("van",))

# At once and all of them: without a loss graph nothing may be shed.
SPEEDING = Quality(delay=((0, 1), (2, 1), (10, 0)), weight=5)
# The delay counts from the first report of the five minutes.
STANDING = Quality(delay=((0, 1), (480, 1), (1200, 0)), weight=2)
# The delay counts from the last report, and includes the three minutes.
SILENT = Quality(delay=((0, 1), (200, 1), (600, 0)), weight=2)
STOLEN = Quality(delay=((0, 1), (60, 1), (600, 0)), weight=3)
# Half of the reports make nearly as good an average.
AVERAGES = Quality(delay=((0, 1), (240, 1), (900, 0)), loss=((0, 0), (0.5, 0.8), (1, 1)))
# A list on a screen; the emptiest vans matter most.
NEARLY_EMPTY = Quality(
    delay=((0, 1), (30, 1), (300, 0)),
    loss=((0, 0), (0.2, 0.7), (1, 1)),
    value=ValueGraph("fuel", points=((0, 1), (10, 0.2))),
)


def network(minute: str = "3 min", five_minutes: str = "7 min", silence: str = "3 min") -> Network:
    """Six outputs; the arguments are timeouts, how long a window may stay open on the machine's clock."""
    net = NetworkBuilder(
        "vans", description="Vans that speed, stand, fall silent or lose fuel, and how fast they drive"
    )
    vans = net.table("vans", VAN, store="vans.csv", description="Who drives which van, and where it belongs.")
    reports = net.input(
        "reports",
        REPORT,
        description="One report each, in km/h and litres; up to 20 reports of a van out of order.",
    )
    reports.point("past", history="30 min", key="van")
    _speeding(reports, vans)
    _averages(reports, minute)
    _standing(reports, vans, five_minutes)
    _silent(reports, vans, silence)
    _stolen(reports, vans)
    reports.filter("fuel < 10", as_="nearly_empty").output("nearly_empty", NEARLY_EMPTY)
    return net.build()


def _with_driver(stream: Stream, vans: Stream, order: Order, name: str, *attributes: str) -> Stream:
    """Alarms with the driver and the depot of the van."""
    joined = stream.join(vans, "left.van = right.van", left=order, as_=f"{name}_driver")
    kept = {"van": "left_van", **dict(each.split(": ") for each in attributes)}
    return joined.map({**kept, "driver": "driver", "depot": "depot"}, as_=f"{name}_alarm")


def _speeding(reports: Stream, vans: Stream) -> None:
    fast = reports.filter("speed > 130", as_="speeding")
    _with_driver(fast, vans, BY_VAN, "speeding", "at: at", "speed: speed").output("speeding", SPEEDING)


def _averages(reports: Stream, timeout: str) -> None:
    functions = {"average": "avg(speed)", "reports": "count(*)"}
    minute = reports.aggregate(functions, BY_VAN, "1 min", timeout=timeout, align=True, as_="minute")
    minute.point("minutes", history="1 d", key="van")
    minute.output("averages", AVERAGES)


def _standing(reports: Stream, vans: Stream, timeout: str) -> None:
    five_minutes = reports.aggregate(
        {
            "fastest": "max(speed)",
            "first_at": "min(at)",
            "last_at": "max(at)",
            "lat": "last(lat)",
            "lon": "last(lon)",
        },
        BY_VAN,
        "5 min",
        advance="1 min",
        timeout=timeout,
        align=True,
        as_="five_minutes",
        description="overlapping windows of five minutes, one each minute",
    )
    still = five_minutes.filter(
        "fastest = 0 AND unix_seconds(last_at) - unix_seconds(first_at) >= 240",
        as_="still",
        description="never moved, in reports that cover at least four of the five minutes",
    )
    in_order = Order("at", group_by=("van",))
    alarm = _with_driver(still, vans, in_order, "still", "at: at", "lat: lat", "lon: lon")
    alarm.output("standing", STANDING)


def _silent(reports: Stream, vans: Stream, timeout: str) -> None:
    next_report = reports.aggregate(
        {"reports": "count(*)", "at": "first(at)", "lat": "first(lat)", "lon": "first(lon)"},
        NEXT,
        2,
        advance=1,
        timeout=timeout,
        as_="next_report",
        description="each report and the next one of the van; alone after three minutes without a next one",
    )
    alone = next_report.filter("reports = 1", as_="alone")
    alarm = _with_driver(alone, vans, BY_VAN, "silent", "last_at: at", "lat: lat", "lon: lon")
    alarm.output("silent", SILENT)


def _stolen(reports: Stream, vans: Stream) -> None:
    two_reports = reports.bsort(BY_VAN, as_="in_order").aggregate(
        {"before": "first(fuel)", "after": "last(fuel)", "fastest": "max(speed)", "at": "last(at)"},
        NEXT,
        2,
        advance=1,
        as_="two_reports",
        description="each report and the next one by time",
    )
    fallen = two_reports.filter(
        "fastest = 0 AND before - after > 8",
        as_="fallen",
        description="more than 8 litres less from one report to the next, while the van stands",
    )
    alarm = _with_driver(fallen, vans, BY_VAN, "fallen", "at: at", "litres: before - after")
    alarm.output("stolen", STOLEN)
