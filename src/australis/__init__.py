"""Australis: Aurora-model stream networks on Apache Spark.

The names that programs need to describe a network, and the node that runs one. Importing starts no JVM, and
loads a name when it is used: to describe a network needs no Spark.

>>> import australis
>>> net = australis.NetworkBuilder("soldiers")
>>> pos = net.input("pos", "sid int, time long, pos int")
>>> count = pos.filter("pos >= 30").aggregate({"n": "count(*)"}, australis.Order("time", slack=1), size=1)
>>> _ = count.filter("n >= 3").output("alarm")
>>> str(net.build().output_schema("alarm"))
'time long not null, n long not null'
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.algebra.builder import NetworkBuilder, Stream
    from australis.algebra.form import dumps, load, loads
    from australis.algebra.network import Network
    from australis.algebra.order import Order
    from australis.algebra.progress import Progress
    from australis.algebra.quality import Quality, ValueGraph
    from australis.algebra.schema import Schema, parse_schema
    from australis.algebra.store import FileFormat, Store
    from australis.algebra.user_functions import (
        register_aggregate,
        register_arrow_aggregate,
        register_function,
        register_scalar,
    )
    from australis.client import connect, connect_async
    from australis.engine import Node
    from australis.errors import AlgebraError, AustralisError
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "algebra.builder": ("NetworkBuilder", "Stream"),
            "algebra.form": ("dumps", "load", "loads"),
            "algebra.network": ("Network",),
            "algebra.order": ("Order",),
            "algebra.progress": ("Progress",),
            "algebra.quality": ("Quality", "ValueGraph"),
            "algebra.schema": ("Schema", "parse_schema"),
            "algebra.store": ("FileFormat", "Store"),
            "algebra.user_functions": (
                "register_aggregate",
                "register_arrow_aggregate",
                "register_function",
                "register_scalar",
            ),
            "client.async_client": ("connect_async",),
            "client.client": ("connect",),
            "engine.node": ("Node",),
            "errors": ("AlgebraError", "AustralisError"),
        },
    )

__all__ = [
    "AlgebraError",
    "AustralisError",
    "FileFormat",
    "Network",
    "NetworkBuilder",
    "Node",
    "Order",
    "Progress",
    "Quality",
    "Schema",
    "Store",
    "Stream",
    "ValueGraph",
    "connect",
    "connect_async",
    "dumps",
    "load",
    "loads",
    "parse_schema",
    "register_aggregate",
    "register_arrow_aggregate",
    "register_function",
    "register_scalar",
]
