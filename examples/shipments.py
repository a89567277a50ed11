"""Orders with their shipments, and what has no partner. The same network is in `shipments.yaml`.

An order without a shipment is known to be late when the shipments have passed it by three days: any later
shipment tells. A shipment without an order is stray, at the latest when the orders have passed it.

    australis run examples/shipments.py:network -i orders=examples/shipments/in/orders.csv \
        -i shipments=examples/shipments/in/shipments.csv -i customers=examples/shipments/in/customers.csv \
        -o unshipped=- --flush
"""

from australis import Network, NetworkBuilder, Order


def network() -> Network:
    """Three outputs: orders that were shipped, orders that were not, shipments that were not ordered."""
    net = NetworkBuilder(
        "shipments",
        description="Orders with their shipments, orders that nobody ships within three days, "
        "and shipments that nobody ordered",
    )
    orders = net.input(
        "orders",
        "id int not null, time timestamp not null, customer int not null, item string not null",
        description="Orders as they come in.",
    )
    shipments = net.input(
        "shipments",
        "order_id int, time timestamp not null, parcel string not null",
        description="Parcels as they leave, with the order that they belong to.",
    )
    customers = net.table(
        "customers", "id int not null, name string not null", description="The customers that are known."
    )
    shipped = orders.join(
        shipments,
        "left.id = right.order_id",
        size="3 d",
        left=Order("time"),
        right=Order("time"),
        how="full",
        as_="shipped",
    )
    both, only_order = "id IS NOT NULL AND order_id IS NOT NULL", "order_id IS NULL AND id IS NOT NULL"
    done, waiting, stray = shipped.route(both, only_order, as_="found")
    named = waiting.join(customers, "left.customer = right.id", how="left", table="right", as_="named")
    named.map(
        {"id": "left_id", "time": "left_time", "item": "item", "name": "coalesce(name, 'unknown')"},
        as_="waiting",
    ).output("unshipped")
    hours = "(unix_seconds(right_time) - unix_seconds(left_time)) / 3600"
    done.map({"id": "id", "item": "item", "parcel": "parcel", "hours": hours}, as_="done").output("shipped")
    shown = {"time": "right_time", "parcel": "parcel", "order_id": "order_id"}
    stray.map(shown, as_="stray").output("unordered")
    return net.build()
