"""The scene: requests of a shop, and four outputs of different importance and urgency.

All expressions are texts that both sides evaluate: a network here, `selectExpr` of Spark there.
"""

from __future__ import annotations

from collections.abc import Mapping

from australis import Network, NetworkBuilder, Order, Quality
from australis.plan.superboxes import Discipline, plan

INPUT = "requests"
SCHEMA = "time timestamp not null, host long not null, line string not null"
HOSTS = 100
WINDOW_S = 1
WINDOW = f"{WINDOW_S} second"

# A line: host-007 GET /shop/item/4711?user=u815&session=00ab12cd34 200 1532
SHOP = "contains(line, ' /shop/')"
"""What all outputs want; the rest are health checks."""
_PATH, _QUERY = "split_part(line, ' ', 3)", "split_part(line, '?', 2)"
_STATUS = "CAST(split_part(line, ' ', 4) AS int)"

_USER = "split_part(split_part(line, 'user=', 2), '&', 1)"
_ITEM = "CAST(split_part(split_part(line, '/item/', 2), '?', 1) AS long)"

ALARMS = {
    "time": "time",
    "host": "host",
    "status": _STATUS,
    "path": f"split_part({_PATH}, '?', 1)",
    "user": _USER,
}
FAILED = "status >= 500"
VISITS = {
    "time": "time",
    "user": f"lpad({_USER}, 12, '0')",
    "item": _ITEM,
    "session": f"upper(left(split_part({_QUERY}, 'session=', 2), 10))",
    "page": f"replace(split_part({_PATH}, '?', 1), '/shop/', '/')",
}
SIZES = {
    "time": "time",
    "host": "host",
    "bytes": "CAST(split_part(line, ' ', 5) AS double)",
    "failed": f"if({_STATUS} >= 400, 1, 0)",
    "item": _ITEM,
}
AVERAGES = {"bytes": "avg(bytes)", "most": "max(bytes)", "failed": "sum(failed)", "item": "max(item)"}
_ANONYMOUS = "replace(replace(line, 'user=u', 'user=x'), 'session=', 's=')"
ARCHIVE = {
    "time": "time",
    "day": "left(CAST(time AS string), 10)",
    "line": f"lpad(CAST(host AS string), 6, '0') || ' ' || upper(reverse(reverse({_ANONYMOUS})))",
    "agent": "split_part(reverse(line), ' ', 2) || ':' || substring(line, 10, 24)",
    "trace": "reverse(split_part(reverse(line), '=', 1)) || lower(reverse(substring(line, 5)))",
}

QUALITIES: Mapping[str, Quality] = {
    "alarms": Quality(delay=((0, 1), (1, 1), (3, 0)), weight=4),
    "visits": Quality(delay=((0, 1), (2, 1), (6, 0)), loss=((0, 0), (0.5, 0.7), (1, 1)), weight=2),
    "averages": Quality(delay=((0, 1), (3, 1), (8, 0)), loss=((0, 0), (0.3, 0.9), (1, 1)), weight=1.5),
    "archive": Quality(delay=((0, 1), (4, 1), (8, 0)), loss=((0, 0), (1, 1)), weight=1),
}
WINDOWED = "averages"
LATEST_S = max(quality.delay[-1][0] for quality in QUALITIES.values())
"""After this many seconds a tuple has no utility for any output."""
MOST = sum(quality.weight for quality in QUALITIES.values())


def network() -> Network:
    """One shared filter, and a branch for each output."""
    net = NetworkBuilder("shop")
    shop = net.input(INPUT, SCHEMA).filter(SHOP, as_="shop")
    shop.map(ALARMS, as_="parse").filter(FAILED, as_="failed").output("alarms", QUALITIES["alarms"])
    shop.map(VISITS, as_="visit").output("visits", QUALITIES["visits"])
    sizes = shop.map(SIZES, as_="size")
    by_host = Order("time", group_by=("host",))
    averages = sizes.aggregate(AVERAGES, by_host, WINDOW, align=True, as_="average")
    averages.output("averages", QUALITIES["averages"])
    shop.map(ARCHIVE, as_="format").output("archive", QUALITIES["archive"])
    return net.build()


def branches(shop: Network, discipline: str) -> dict[str, str]:
    """The superbox that writes each output."""
    cut = plan(shop, Discipline(discipline))
    return {output: str(cut.arcs[cut.outputs[output]].writer) for output in shop.outputs}
