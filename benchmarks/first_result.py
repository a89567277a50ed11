"""A first program: a node, a small network with an aggregate, some tuples, the result.

`python benchmarks/first_result.py RUNNER` prints the wall-clock time of the first result.
"""

from __future__ import annotations

import sys
import time

import pyarrow as pa

import australis

net = australis.NetworkBuilder("soldiers")
reports = net.input("reports", "sid int, time int, pos int")
count = reports.filter("pos >= 30").aggregate({"soldiers": "count(*)"}, australis.Order("time"), size=1)
count.filter("soldiers >= 2").output("alarms")

with australis.Node(runner=sys.argv[1]) as node:
    node.deploy(net.build())
    node.push("reports", pa.table({"sid": [1, 2, 3], "time": [1, 1, 1], "pos": [29, 30, 31]}))
    node.flush()
    table = next(node.subscribe("alarms", follow=False))
    assert table.select(["time", "soldiers"]).to_pylist() == [{"time": 1, "soldiers": 2}]
    print(time.time(), flush=True)
