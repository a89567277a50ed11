"""Deploying: puts a network on a new or existing root, and adapts the root to other settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from australis.algebra.form import to_json
from australis.algebra.network import Network
from australis.engine.change.optimiser import begun, with_past
from australis.engine.change.takeover import Cut, Takeover
from australis.engine.crash_points import crash_point
from australis.engine.ledger import NETWORK, Catalog, Ledger, Queues, Record, load_queues
from australis.engine.settings import NodeSettings
from australis.errors import EngineError, Problem
from australis.plan.superboxes import Discipline


def deploy(ledger: Ledger, network: Network, settings: NodeSettings) -> Record:
    """Put a network on a root, or continue with it and with the queries that are attached."""
    discipline = settings.discipline or Discipline.SUPERBOX
    known = ledger.catalog.meta(NETWORK)
    if known is None:
        first = begun(network) if settings.optimise else None
        record = Record(network, discipline, settings.partitions, begun=first, improved=first)
        made, text = record.plan, record.to_json()
        with ledger.change() as change:
            change.set_meta(NETWORK, text)
            change.run_plan(made)
        crash_point("deploy.recorded")
        return record
    before = Record.from_json(known)
    _check_same(before.network, network)
    first = before.begun or (begun(network, with_past(network)) if settings.optimise else None)
    record = replace(
        before,
        discipline=discipline,
        partitions=settings.partitions,
        begun=first,
        spreads_tables=True,
        spreads_joins=True,
    )
    ledger.load_plan(before.plan)
    if _division(before) != _division(record):
        _take_over(ledger, before, record)
    return record


def _division(record: Record) -> tuple[object, ...]:
    """What decides how states are divided, apart from the network."""
    return record.discipline, record.partitions, record.spreads_tables, record.spreads_joins


def check_deployable(catalog: Catalog, network: Network, settings: NodeSettings) -> None:
    """Refuse what `deploy` would refuse, from the catalogue of a root alone: nothing has to run for that."""
    known = catalog.meta(NETWORK)
    if known is None:
        return
    before = Record.from_json(known)
    _check_same(before.network, network)
    if before.discipline != settings.for_network(network).discipline:
        _check_drained(load_queues(before.plan, catalog, {}), before.discipline)


def _check_same(before: Network, network: Network) -> None:
    if to_json(before) != to_json(network):
        what = f"differs from the network {before.name!r} that the root holds"
        expected = "the same network, or another root; `australis deploy NET --root DIR` changes the network"
        raise EngineError(Problem(network.name, what, expected))


def _take_over(ledger: Ledger, before: Record, record: Record) -> None:
    """Take over heads and states kept for other superboxes or another number of partitions."""
    takeover = Takeover(Cut.of(before), Cut.of(record))
    if before.discipline != record.discipline:
        _check_drained(ledger.queues, before.discipline)
    states = takeover.write_states(ledger.root, ledger.catalog)
    begins = _begins(takeover, ledger.queues)
    outdated, text = takeover.outdated, record.to_json()
    crash_point("deploy.rewriting")
    with ledger.change() as change:
        takeover.write(change, states, begins, outdated)
        change.set_meta(NETWORK, text)
    crash_point("deploy.rewritten")


def _begins(takeover: Takeover, queues: Queues) -> Mapping[str, int]:
    """Superboxes of the same name continue where they were; others start where all have come to."""
    return {each.id: queues.positions.get(each.id, queues.log_end) for each in takeover.fresh}


def _check_drained(queues: Queues, discipline: Discipline) -> None:
    """Check that the old queues are empty: other superboxes have other queues between them."""
    behind = [name for name in queues.plan.superboxes if not queues.is_caught_up(name)]
    if behind:
        expected = f"the discipline {discipline.value!r} until the node is drained"
        path = f"{queues.plan.network.name}.{behind[0]}"
        raise EngineError(Problem(path, "has tuples waiting", expected))
