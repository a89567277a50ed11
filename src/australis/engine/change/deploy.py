"""Deploying: a network on a root, new or as it was left, and what changes with other settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from australis.algebra.form.form import to_json
from australis.algebra.network import Network
from australis.engine.change.optimiser import begun, with_past
from australis.engine.change.takeover import Cut, Takeover
from australis.engine.crash_points import crash_point
from australis.engine.ledger.catalog import NETWORK, Catalog
from australis.engine.ledger.queues import Queues
from australis.engine.ledger.record import Record
from australis.engine.settings import NodeSettings
from australis.engine.store.root import Root
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Discipline, Plan


@dataclass(frozen=True)
class Deployed:
    """A network on a root, and the files that other settings have made superfluous."""

    record: Record
    buried: tuple[str, ...] = ()


def deploy(root: Root, catalog: Catalog, network: Network, settings: NodeSettings) -> Deployed:
    """Put a network on a root, or go on with it and with the queries that are attached."""
    discipline = settings.discipline or Discipline.SUPERBOX
    known = catalog.meta(NETWORK)
    if known is None:
        first = begun(network) if settings.optimise else None
        record = Record(network, discipline, settings.partitions, begun=first, improved=first)
        with catalog.transaction() as transaction:
            transaction.set_meta(NETWORK, record.to_json())
        crash_point("deploy.recorded")
        return Deployed(record)
    before = Record.from_json(known)
    _check_same(before.network, network)
    first = before.begun or (begun(network, with_past(network)) if settings.optimise else None)
    record = replace(before, discipline=discipline, partitions=settings.partitions, begun=first)
    if (before.discipline, before.partitions) == (record.discipline, record.partitions):
        return Deployed(record)
    return Deployed(record, tuple(_taken_over(root, catalog, before, record)))


def _check_same(before: Network, network: Network) -> None:
    if to_json(before) != to_json(network):
        what = f"another network than the one that the root holds, {before.name!r}"
        expected = "the same network, another root, or `australis deploy` of it"
        raise EngineError(Problem(network.name, what, expected))


def _taken_over(root: Root, catalog: Catalog, before: Record, record: Record) -> list[str]:
    """Take over heads and states, which were kept for other superboxes or another number of partitions."""
    takeover = Takeover(Cut(before.plan, before.partitions), Cut(record.plan, record.partitions))
    queues = Queues(before.plan, catalog)
    if before.discipline != record.discipline:
        _check_drained(queues, before.discipline)
    states = takeover.states(root, catalog)
    begins = _begins(takeover, queues)
    crash_point("deploy.rewriting")
    with catalog.transaction() as transaction:
        buried = takeover.write(transaction, queues, states, begins)
        transaction.set_meta(NETWORK, record.to_json())
    crash_point("deploy.rewritten")
    return buried


def _begins(takeover: Takeover, queues: Queues) -> Mapping[str, int]:
    """Superboxes of the same name go on where they were, others where all have come to."""
    heads = queues.heads
    return {each.id: heads[each.id].seq if each.id in heads else queues.log_end for each in takeover.fresh}


def _check_drained(queues: Queues, discipline: Discipline) -> None:
    """Other superboxes have other queues between them, so those of the old ones must be empty."""
    plan: Plan = queues.plan
    behind = [name for name in plan.superboxes if queues.heads[name].seq < queues.log_end]
    if behind:
        expected = f"the discipline {discipline.value!r} until the node is drained"
        raise EngineError(Problem(f"{plan.network.name}.{behind[0]}", "has tuples waiting", expected))
