"""Deploying: the plan of a network on a root, new or as it was left, and what changes with other settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from australis.algebra.form import to_json
from australis.algebra.network import Network
from australis.compile.spread import SpreadKind, spread_of
from australis.compile.superboxes import Discipline, Plan, Superbox, plan
from australis.engine.faults import crash_point
from australis.engine.settings import NodeSettings
from australis.engine.storage.catalog import NETWORK, Catalog, Head, StateFile
from australis.engine.storage.root import Root
from australis.engine.storage.states import encode_state, read_state
from australis.errors import EngineError, Problem
from australis.kernels.make import kernel_for
from australis.kernels.repartition import repartition


@dataclass(frozen=True)
class Deployed:
    """A network on a root: its plan, and the files that other settings have made superfluous."""

    plan: Plan
    buried: tuple[str, ...] = ()


def deploy(root: Root, catalog: Catalog, network: Network, settings: NodeSettings) -> Deployed:
    """Put a network on a root, or go on with it."""
    made = plan(network, settings.discipline or Discipline.SUPERBOX)
    record = {
        "network": to_json(network),
        "discipline": settings.discipline,
        "partitions": settings.partitions,
    }
    known = catalog.meta(NETWORK)
    if known is None:
        with catalog.transaction() as transaction:
            transaction.set_meta(NETWORK, json.dumps(record))
        crash_point("deploy.recorded")
        return Deployed(made)
    before: Mapping[str, Any] = json.loads(known)
    _check_same(before, record, network)
    buried = _rewritten(root, catalog, made, before, record) if before != record else ()
    return Deployed(made, tuple(buried))


def _check_same(before: Mapping[str, Any], after: Mapping[str, Any], network: Network) -> None:
    if before["network"] != json.loads(json.dumps(after["network"])):
        name = before["network"].get("name", "another network")
        what = f"another network than the one that the root holds, {name!r}"
        raise EngineError(Problem(network.name, what, "the same network, or another root"))


def _rewritten(
    root: Root, catalog: Catalog, made: Plan, before: Mapping[str, Any], record: Mapping[str, Any]
) -> list[str]:
    """Take over heads and states, which were kept for other superboxes or another number of partitions."""
    old = plan(made.network, Discipline(before["discipline"]))
    _check_drained(catalog, old, before, record)
    files = {name: catalog.states(name) for name in old.superboxes}
    by_box = {
        box: [f for found in files.values() for f in found if f.box == box] for box in made.network.order
    }
    partitions = record["partitions"]
    states = {each.id: _taken_over(root, each, by_box, partitions) for each in made.superboxes.values()}
    due = {box: catalog.head(name).deadline for name in old.superboxes for box in old.superboxes[name].boxes}
    crash_point("deploy.rewriting")
    with catalog.transaction() as transaction:
        gone = {name for superbox in old.superboxes for name in transaction.clear_states(superbox)}
        for name, found in states.items():
            transaction.set_states(name, found)
            if name not in old.superboxes:
                deadlines = (due[box] for box in made.superboxes[name].ordered)
                deadline = min((each for each in deadlines if each is not None), default=None)
                transaction.set_head(name, Head(catalog.log_end(), 1, deadline))
        transaction.set_meta(NETWORK, json.dumps(record))
    crash_point("deploy.rewritten")
    return sorted(gone - {file.name for found in states.values() for file in found})


def _check_drained(catalog: Catalog, old: Plan, before: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """Other superboxes have other queues between them, so those of the old ones must be empty."""
    behind = [name for name in old.superboxes if catalog.head(name).seq < catalog.log_end()]
    if before["discipline"] != record["discipline"] and behind:
        expected = f"the discipline {before['discipline']!r} until the node is drained"
        raise EngineError(Problem(f"{old.network.name}.{behind[0]}", "has tuples waiting", expected))


def _taken_over(
    root: Root, superbox: Superbox, by_box: Mapping[str, list[StateFile]], partitions: int
) -> list[StateFile]:
    """The state files of a superbox, rewritten where they are for another number of partitions."""
    count = partitions if superbox.spread.kind is SpreadKind.KEYS else 1
    found: list[StateFile] = []
    for box in superbox.ordered:
        files = sorted(by_box[box], key=lambda file: file.partition)
        found += files if len(files) in (0, count) else _repartitioned(root, superbox, box, files, count)
    return found


def _repartitioned(
    root: Root, superbox: Superbox, box: str, files: list[StateFile], count: int
) -> Iterator[StateFile]:
    network = superbox.network
    kernel = kernel_for(network.boxes[box].box, network.input_schemas(box), network.timezone)
    # A box by itself might be spread by more than the component that it is part of.
    known = {**spread_of(network, network.order).keys, **superbox.spread.keys}
    keys = tuple(known[source] for source in network.boxes[box].sources)
    states = repartition(kernel, [read_state(root, file.name) for file in files], keys, count)
    for partition, state in enumerate(states):
        name, data = encode_state(root, box, partition, state)
        root.write(name, data)
        yield StateFile(box, partition, name, len(data))
