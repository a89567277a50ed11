"""Attaching a query to a network of 1,000 superboxes, and what a worker loads of its plan."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pyarrow as pa
from benchmarks.scale.here import Here
from benchmarks.scale.networks import POINT, SCHEMA, fan
from benchmarks.scale.timing import seconds

from australis import Network, NetworkBuilder, Node
from australis.engine.store import Root
from australis.engine.worker import task, write_plan
from australis.engine.worker.plan_files import PlanFile
from australis.plan.superboxes import Discipline, plan

SUPERBOXES, ROUNDS = 1_000, 9
BATCH = pa.table({"k": [10**6], "v": [1.0]})


def measure() -> dict[str, float]:
    """The milliseconds by the clock until a query is attached or detached, and a superbox is loaded."""
    attach_ms, attach_cpu_ms, detach_ms = _attach_ms(SUPERBOXES)
    return {
        "attach_ms": attach_ms,
        "attach_cpu_ms": attach_cpu_ms,
        "detach_ms": detach_ms,
        "attach_100_ms": _attach_ms(SUPERBOXES // 10)[0],
        "worker_load_ms": _load_ms(),
    }


def _attach_ms(superboxes: int) -> tuple[float, float, float]:
    """The time of attaching by the clock, its CPU time, and the time of detaching."""
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as folder, Node(folder, runner=Here()) as node:
        node.deploy(fan(superboxes))
        node.push("x", BATCH)
        node.drain()
        attaching, computing, detaching = [], [], []
        for round_ in range(ROUNDS):
            name, before = f"q{round_}", time.process_time()
            attaching.append(_ms(lambda name=name: node.attach(_query(), name=name)))
            computing.append((time.process_time() - before) * 1000)
            if round_ % 2:
                detaching.append(_ms(lambda name=name: node.detach(name)))
        node.stop(now=True)
    return median(attaching), median(computing), median(detaching)


def _query() -> Network:
    ask = NetworkBuilder("ask")
    ask.input(POINT, SCHEMA).filter("k > 5", as_="some").output("found")
    return ask.build()


def _ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _load_ms() -> float:
    """The time in which a new worker has the first of 1,000 superboxes ready."""
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as folder:
        root = Root.of(Path(folder))
        root.prepare()
        superboxes = plan(fan(SUPERBOXES), Discipline.BRANCH).superboxes
        name, last = write_plan(root, superboxes), list(superboxes)[-1]
        return 1000 * seconds(lambda: task._made_ready(PlanFile(root, name).superbox(last), {}))
