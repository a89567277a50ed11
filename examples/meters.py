"""What households used each day and each shift in local time, over the night on which clocks are put back.

Aligned windows lie along the clocks of the network's time zone: a day of the zone has 23 to 25 hours. The
same network is in `meters.yaml`.

    australis run examples/meters.py:network -i readings=examples/meters/in/readings.csv -o days=- --flush
"""

from australis import Network, NetworkBuilder, Order

USED = {"used": "sum(kwh)", "readings": "count(*)"}


def network() -> Network:
    """Two outputs: by day, and by shift."""
    net = NetworkBuilder(
        "meters",
        timezone="Europe/Berlin",
        description="What households used each day and each shift in local time,"
        " over the night on which clocks are put back",
    )
    readings = net.input(
        "readings",
        "meter string not null, at timestamp not null, kwh decimal(8,2)",
        description="One reading every two hours; `at` is in UTC.",
    )
    order = Order("at", group_by=("meter",))
    readings.aggregate(
        USED,
        order,
        "1 day",
        align=True,
        as_="daily",
        description="From midnight to midnight, which is 25 hours on the 27th.",
    ).output("days")
    readings.aggregate(
        USED,
        order,
        "8 h",
        align=True,
        offset="6 h",
        as_="shifts",
        description="Shifts that start at 6:00, 14:00 and 22:00; the night shift is an hour longer.",
    ).output("shifts")
    return net.build()
