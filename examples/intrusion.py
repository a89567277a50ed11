"""The network intrusion detection query of the Medusa paper (Contract-Based Load Management, section 4.1).

Tuples summarise one connection each. The query finds sources that are active (operators a and b), sources
that use many protocols within a short time (e and f), those that do both (g), and clusters of active sources
(c and d).

    australis explain examples/intrusion.py:network
    australis run examples/intrusion.py:network -i connections=examples/intrusion/in/connections.csv \
        -o active=active.csv -o clusters=clusters.csv -o varied=varied.csv -o both=both.csv --flush
"""

from australis import Network, NetworkBuilder, Order

PERIOD = "60 s"  # the paper's T
CONNECTIONS, PROTOCOLS, SOURCES = 20, 5, 3  # in one period: what is active, varied, a cluster
NEIGHBOURHOOD = "concat(split_part(src, '.', 1), '.', split_part(src, '.', 2), '.', split_part(src, '.', 3))"


def network() -> Network:
    """The operators a to g, under their names in the paper."""
    net = NetworkBuilder("intrusion", description="Sources that are active, use many protocols, or both")
    connections = net.input(
        "connections",
        "time timestamp not null, src string not null, dst string not null, protocol string not null",
        description="One network connection each; up to 8 of a source out of order.",
    )
    by_source = Order("time", slack=8, group_by=("src",))

    counted = connections.aggregate({"connections": "count(*)"}, by_source, PERIOD, align=True, as_="a")
    active = counted.filter(f"connections >= {CONNECTIONS}", as_="b")
    active.output("active")

    neighbours = {"time": "time", "src": "src", "net": NEIGHBOURHOOD}
    by_net = Order("time", slack=50, group_by=("net",))
    clusters = active.map(neighbours, as_="neighbourhood").aggregate(
        {"sources": "count(DISTINCT src)"}, by_net, PERIOD, align=True, as_="c"
    )
    clusters.filter(f"sources >= {SOURCES}", as_="d").output("clusters")

    spoken = connections.aggregate(
        {"protocols": "count(DISTINCT protocol)"}, by_source, PERIOD, align=True, as_="e"
    )
    varied = spoken.filter(f"protocols >= {PROTOCOLS}", as_="f")
    varied.output("varied")

    in_order = Order("time", group_by=("src",))
    both = active.join(varied, "left.src = right.src", size="1 s", left=in_order, right=in_order, as_="g")
    both.map(
        {"time": "left_time", "src": "left_src", "connections": "connections", "protocols": "protocols"},
        as_="slim",
    ).output("both")
    return net.build()
