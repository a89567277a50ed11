"""A plant, and what its outputs are worth to those who watch it (Aurora 4.1).

Readings of sensors go to the guard (those near the critical temperature, at once and all of them), to the
shift leader (faults, by kind), to a screen (averages, of which those near the critical region matter) and
into a report (by zone, whenever there is time for it). The same network is in `plant.yaml`.

    australis explain examples/plant.py:network --output plant.svg
    australis run examples/plant.py:network -i readings=examples/plant/in/readings.csv \
        -o guard=guard.csv -o faults=faults.csv -o screen=screen.csv -o report=report.csv --flush
"""

from australis import Network, NetworkBuilder, Order, Quality, ValueGraph

# Each tuple counts, within a second; after five it comes too late. Without a loss graph nothing may be shed.
GUARD = Quality(delay=((0, 1), (1, 1), (5, 0)), weight=8)
FAULTS = Quality(
    delay=((0, 1), (5, 1), (60, 0)),
    loss=((0, 0), (0.8, 0.9), (1, 1)),
    value=ValueGraph("kind", categories=(("leak", 1), ("power", 0.6), ("signal", 0.2), ("notice", 0.05))),
    weight=3,
)
SCREEN = Quality(
    delay=((0, 1), (15, 1), (60, 0)),  # from the first reading of a window on: the window itself has 10 s
    loss=((0, 0), (0.5, 0.8), (1, 1)),
    value=ValueGraph("average", points=((150, 0.05), (200, 0.2), (240, 1), (260, 1), (300, 0.4))),
    weight=2,
)
# Half of the tuples make nearly as good a report, and an hour later is early enough.
REPORT = Quality(delay=((0, 1), (3600, 1), (14400, 0)), loss=((0, 0), (0.5, 0.95), (1, 1)))


def network() -> Network:
    """Four outputs of different importance."""
    net = NetworkBuilder("plant", description="Readings of a plant, for those who watch it")
    readings = net.input(
        "readings",
        "time timestamp not null, sensor string not null, zone string not null, celsius double, kind string",
        description="One reading each; `kind` is that of a fault, where there is one.",
    )
    readings.filter("celsius BETWEEN 240 AND 260", as_="critical").output("guard", GUARD)
    readings.filter("kind IS NOT NULL", as_="faulty").output("faults", FAULTS)
    averages = readings.aggregate(
        {"average": "avg(celsius)"}, Order("time", group_by=("sensor",)), "10 s", align=True, as_="smooth"
    )
    averages.output("screen", SCREEN)
    by_zone = Order("time", slack=2, group_by=("zone",))
    readings.aggregate(
        {"readings": "count(*)", "hottest": "max(celsius)"}, by_zone, "30 s", align=True, as_="summary"
    ).output("report", REPORT)
    return net.build()
