"""A rehearsal: the sample of a calibration goes through a node, to see what it needs besides its boxes.

Kernels alone do not number tuples, keep queues on disk, send trains to workers or commit them. The time of
the cores is counted, not the clock's, so that other work on the machine does not count.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median

import pyarrow as pa

from australis.algebra.network import Network
from australis.engine import Node
from australis.engine.calibrate import Calibration, Sample
from australis.errors import AustralisError
from australis.policy.analysis import Hardware, analyse

TRAIN_S = 0.5
"""How long tuples gather for a train: about as long as under a load that a node can just carry."""
BATCHES = 5
"""In how many batches they arrive in that time."""
ROUNDS_LEAST, ROUNDS_MOST = 9, 18
LONGEST_S = 30.0


def rehearsed(
    network: Network, given: Sample, rates: Mapping[str, float], measured: Calibration
) -> Calibration:
    """What was measured, with what a node needs besides."""
    if _below(os.getpid()) is None:
        return replace(
            measured, notes=(*measured.notes, "what a node needs besides its boxes is not known here")
        )
    try:
        node_us = _rehearse(network, given, sum(rates.values()))
    except AustralisError as error:
        note = f"a node could not rehearse it, so what it needs besides its boxes is not known: {error}"
        return replace(measured, notes=(*measured.notes, note))
    boxes_us = analyse(network, rates, measured.costs, Hardware()).min_cap * 1e6 / sum(rates.values())
    costs = replace(measured.costs, node_us=max(0.0, node_us - boxes_us))
    return replace(measured, costs=costs)


def _rehearse(network: Network, given: Sample, rate: float) -> float:
    """The time of all cores for a tuple, in microseconds: the median of the last rounds.

    In the first ones, trains load and compile what they need, and the node learns how long they should be.
    """
    tuples = sum(table.num_rows for table in given.streams.values())
    rounds = max(ROUNDS_LEAST, round(tuples / max(rate * TRAIN_S, 1.0)))
    # Rows of stores were read for the sample, or made up where they could not be.
    inputs = {name: replace(each, store=None) for name, each in network.inputs.items()}
    found: list[float] = []
    with Node(runner="light", shed=False) as node:
        node.deploy(replace(network, inputs=inputs), tables=dict(given.tables))
        deadline = time.monotonic() + LONGEST_S
        for number in range(min(rounds, ROUNDS_MOST)):
            before = _cores_us()
            taken = _push(node, given.streams, number, rounds)
            found += [(_cores_us() - before) / taken] if taken else []
            if time.monotonic() > deadline:
                break
    return median(found[-(len(found) // 3 or 1) :]) if found else 0.0


def _push(node: Node, streams: Mapping[str, pa.Table], number: int, rounds: int) -> int:
    """Push what arrives in a round, let trains run, and wait for them; returns the tuples."""
    node.pause()
    taken = 0
    for batch in range(BATCHES):
        for name, table in streams.items():
            begin, end = (
                table.num_rows * part // (rounds * BATCHES)
                for part in (number * BATCHES + batch, number * BATCHES + batch + 1)
            )
            if end > begin:
                node.push(name, table.slice(begin, end - begin))
                taken += end - begin
    node.resume()
    node.drain()
    return taken


def _cores_us() -> float:
    """The time of the cores that this process and its workers have used."""
    workers = sum(_process_us(pid) for pid in _below(os.getpid()) or ())
    return time.process_time_ns() / 1000 + workers


def _below(pid: int) -> list[int] | None:
    """The descendants of a process; None where the system does not say."""
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.is_dir():
        return None
    found: list[int] = []
    for children in tasks.glob("*/children"):
        # A thread may have ended meanwhile.
        with suppress(OSError):
            found += [int(child) for child in children.read_text().split()]
    return found + [lower for child in found for lower in _below(child) or ()]


def _process_us(pid: int) -> float:
    """The time of the cores that a process has used; none for one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        # It has ended, and has no time that still could be counted.
        return 0.0
    return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")
