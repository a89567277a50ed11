"""Australis: Aurora-model stream networks on Apache Spark.

The names that programs need to describe a network; nothing here starts a JVM.

>>> import australis
>>> net = australis.NetworkBuilder("soldiers")
>>> pos = net.input("pos", "sid int, time long, pos int")
>>> count = pos.filter("pos >= 30").aggregate({"n": "count(*)"}, australis.Order("time", slack=1), size=1)
>>> _ = count.filter("n >= 3").output("alarm")
>>> str(net.build().output_schema("alarm"))
'time long not null, n long not null'
"""

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.form import dumps, load, loads
from australis.algebra.functions import register_aggregate, register_function
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.quality import Quality, ValueGraph
from australis.algebra.schema import Schema, parse_schema
from australis.errors import AlgebraError, AustralisError

__all__ = [
    "AlgebraError",
    "AustralisError",
    "Network",
    "NetworkBuilder",
    "Order",
    "Quality",
    "Schema",
    "Stream",
    "ValueGraph",
    "dumps",
    "load",
    "loads",
    "parse_schema",
    "register_aggregate",
    "register_function",
]
