"""Australis: Aurora-model stream networks on Apache Spark.

The names that programs need to describe a network, and the node that runs one; importing starts no JVM.

>>> import australis
>>> net = australis.NetworkBuilder("soldiers")
>>> pos = net.input("pos", "sid int, time long, pos int")
>>> count = pos.filter("pos >= 30").aggregate({"n": "count(*)"}, australis.Order("time", slack=1), size=1)
>>> _ = count.filter("n >= 3").output("alarm")
>>> str(net.build().output_schema("alarm"))
'time long not null, n long not null'
"""

import importlib
from typing import TYPE_CHECKING, Any

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.form.form import dumps, load, loads
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.quality import Quality, ValueGraph
from australis.algebra.schema import Schema, parse_schema
from australis.algebra.store import Store
from australis.algebra.user_functions import register_aggregate, register_function
from australis.errors import AlgebraError, AustralisError

if TYPE_CHECKING:
    from australis.engine.node import Node

__all__ = [
    "AlgebraError",
    "AustralisError",
    "Network",
    "NetworkBuilder",
    "Node",
    "Order",
    "Quality",
    "Schema",
    "Store",
    "Stream",
    "ValueGraph",
    "dumps",
    "load",
    "loads",
    "parse_schema",
    "register_aggregate",
    "register_function",
]


def __getattr__(name: str) -> Any:
    """`Node`, only when it is asked for: to describe a network needs no Spark."""
    if name == "Node":
        return importlib.import_module("australis.engine.node").Node
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
