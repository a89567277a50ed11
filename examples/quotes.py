"""Each trade with the quote that was valid when it was made. The same network is in `quotes.yaml`.

A trade waits until the quotes have passed its time; then no quote that would be valid can still come. A
symbol that is not quoted for 5 seconds has no valid quote: the trade is emitted with NULLs.

    australis run examples/quotes.py:network -i trades=examples/quotes/in/trades.csv \
        -i quotes=examples/quotes/in/quotes.csv -o trades=- --flush
"""

from australis import Network, NetworkBuilder, Order


def network() -> Network:
    """Trades with their quotes, and those outside the quoted prices."""
    net = NetworkBuilder(
        "quotes",
        description="Each trade with the quote that was valid when it was made, "
        "and trades outside the quoted prices",
    )
    trades = net.input(
        "trades",
        "time timestamp not null, sym string not null, price decimal(10,2) not null, size int not null",
        description="Trades, nearly in the order of their time.",
    )
    quotes = net.input(
        "quotes",
        "time timestamp not null, sym string not null, "
        "bid decimal(10,2) not null, ask decimal(10,2) not null",
        description="Quotes of all symbols. Each is valid until the next one, but not longer than 5 s.",
    )
    valid = trades.asof(
        quotes,
        "left.sym = right.sym",
        left=Order("time", slack=2),
        right=Order("time", slack=1),
        within="5 s",
        as_="valid",
    )
    short = valid.map(
        {
            "time": "left_time",
            "sym": "left_sym",
            "price": "price",
            "size": "size",
            "quoted": "right_time",
            "bid": "bid",
            "ask": "ask",
        },
        as_="short",
    ).output("trades")
    short.filter("price < bid OR price > ask", as_="outside").output("outside")
    return net.build()
