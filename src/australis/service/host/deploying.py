"""Changes of the network: checked, compared, deployed, removed, paused, and queries attached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from australis.algebra.grafting import output_names
from australis.algebra.network import Network
from australis.engine import Difference, Node, SplitChange
from australis.errors import EngineError, ErrorCode, Problem, ServiceError
from australis.service.access import Caller
from australis.service.host.host import Host
from australis.service.host.network_texts import network_of
from australis.service.host.operations import Operation
from australis.service.host.rows import tables_of
from australis.service.host.state import State

Given = Mapping[str, Any] | str
"""A network as a caller sends it."""


class Wanted(NamedTuple):
    """A network that a caller wants to run."""

    network: Given
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = {}
    accept_loss: bool = False
    revision: str | None = None
    """The revision that the caller has seen; empty for none at all, None if any will do."""


class Outcome(NamedTuple):
    """What a deployment has changed; None where nothing ran before."""

    difference: Difference | None
    revision: str


def admitted(host: Host, given: Given, *, query: bool = False) -> Network:
    """A network that is valid and names only what it may, with absolute paths of stores."""
    network = network_of(given, query=query).located(str(Path.cwd()))
    host.rules.check(network)
    return network


def compare(host: Host, given: Given) -> Difference:
    """What deploying a network would change."""
    return host.deployed.difference(admitted(host, given))


def start_deploy(host: Host, wanted: Wanted, caller: Caller) -> Operation:
    """Deploy a network, as an operation; what is wrong with the request is raised here."""
    network = admitted(host, wanted.network)
    tables = tables_of(network, wanted.tables)
    _check_revision(host, wanted.revision)

    operation = _changing(host, "deploy", caller)

    def work() -> Outcome:
        with _in_turn(host, operation):
            _check_revision(host, wanted.revision)
            difference = _deploy(host, network, tables, accept_loss=wanted.accept_loss)
            current = host.current
        assert current is not None, "a network was deployed"
        host.tell()
        return Outcome(difference, current.revision)

    return host.operations.start(operation, work)


def _deploy(
    host: Host, network: Network, tables: Mapping[str, Any], *, accept_loss: bool
) -> Difference | None:
    if host.current is None:
        _deploy_first(host, network, tables)
        return None
    node = host.deployed
    if not accept_loss:
        _check_lost(node.difference(network).lost, network.name)
    return node.change(network, tables=tables)


def _deploy_first(host: Host, network: Network, tables: Mapping[str, Any]) -> None:
    """Deploy a network on an empty root; if that fails, as when a store is gone, it is empty again."""
    try:
        host.node.deploy(network, tables=tables)
    except BaseException:
        if host.current is not None:
            host.replace_node(Node.remove)
        raise


def start_remove(host: Host, caller: Caller, *, accept_loss: bool, revision: str | None) -> Operation:
    """Remove the network with all that it keeps, as an operation; its result is whether there was one."""
    _check_revision(host, revision)

    def work() -> bool:
        with host.changing:
            _check_revision(host, revision)
            current = host.current
            if current is None:
                return False
            if not accept_loss:
                kept = _all_kept(host.node)
                _check_lost(kept, current.network.name)
            host.replace_node(Node.remove)
        return True

    return host.operations.start(Operation("remove", caller.name), work)


def _all_kept(node: Node) -> list[str]:
    """What a network keeps that would be gone with it."""
    return [f"all that the node has of {node.log_end:,} events"] if node.log_end else []


def _check_lost(lost: Sequence[str], name: str) -> None:
    if lost:
        hint = "accept_loss, if that is meant"
        raise ServiceError(ErrorCode.WOULD_LOSE, Problem(name, f"would lose {'; '.join(lost)}", hint))


def _check_revision(host: Host, revision: str | None) -> None:
    current = host.current
    known = "" if current is None else current.revision
    if revision is not None and revision not in (known, "*" if known else ""):
        what = f"the network has the revision {known or 'of none'}, not {revision or 'of none'}"
        hint = "the present one, as of GET /v1/network, after a look at what has changed"
        raise ServiceError(ErrorCode.REVISION_MISMATCH, Problem("If-Match", what, hint))


def _changing(host: Host, kind: str, caller: Caller) -> Operation:
    """An operation that changes the running network."""

    def stage() -> str:
        node = host.node
        return node.change_stage if operation.has_turn and node.is_deployed else ""

    def cancel() -> None:
        # Before its turn, the change that is under way is another one.
        if operation.has_turn and host.node.is_deployed:
            host.node.cancel_change()

    operation = Operation(kind, caller.name, stage=stage, cancel=cancel)
    return operation


@contextmanager
def _in_turn(host: Host, operation: Operation) -> Iterator[None]:
    """Let an operation change the network, unless it was cancelled while it waited for others."""
    with host.changing:
        operation.check_wanted()
        operation.has_turn = True
        try:
            yield
        finally:
            operation.has_turn = False


# --- boxes as copies


class SplitWanted(NamedTuple):
    """A box that a caller wants to run as copies."""

    box: str
    into: int = 2
    by: tuple[str, ...] = ()
    any_order: bool = False


def compare_split(host: Host, wanted: SplitWanted) -> SplitChange:
    """What a split would change."""
    return host.deployed.split(
        wanted.box, wanted.into, by=wanted.by, any_order=wanted.any_order, dry_run=True
    )


def compare_unsplit(host: Host, box: str) -> SplitChange:
    """What undoing a split would change."""
    return host.deployed.unsplit(box, dry_run=True)


def start_split(host: Host, wanted: SplitWanted, caller: Caller) -> Operation:
    """Run a box as copies, as an operation; what cannot be split is refused here."""
    compare_split(host, wanted)

    operation = _changing(host, "split", caller)

    def work() -> SplitChange:
        with _in_turn(host, operation):
            box, into, by, any_order = wanted
            found = host.deployed.split(box, into, by=by, any_order=any_order)
        host.tell()
        return found

    return host.operations.start(operation, work)


def start_unsplit(host: Host, box: str, caller: Caller) -> Operation:
    """Run a box that was split as one, as an operation."""
    compare_unsplit(host, box)

    operation = _changing(host, "unsplit", caller)

    def work() -> SplitChange:
        with _in_turn(host, operation):
            found = host.deployed.unsplit(box)
        host.tell()
        return found

    return host.operations.start(operation, work)


# --- whether it runs


def pause(host: Host) -> State:
    """Start no more trains, and wait for those that run."""
    host.deployed.pause()
    return host.state


def resume(host: Host) -> State:
    """Continue, also after a failure whose cause is fixed."""
    if host.node.is_deployed:
        host.node.resume()
    else:
        with host.changing:
            host.resume_recorded(host.node)
        host.deployed  # noqa: B018  (raises why it still does not run)
    return host.state


def step(host: Host) -> dict[str, Any] | None:
    """Run one train while the node is paused; None if there is nothing to do."""
    node = host.deployed
    if not node.is_paused:
        problem = Problem("", "the node is not paused", "POST /v1/network/pause")
        raise ServiceError(ErrorCode.CONFLICT, problem)
    train = node.step()
    return None if train is None else asdict(train)


# --- queries


def start_attach(host: Host, name: str, given: Given, caller: Caller) -> Operation:
    """Attach an ad hoc query, as an operation; the same one again changes nothing."""
    query = admitted(host, given, query=True)
    _check_new(host, name, query)

    operation = _changing(host, "attach", caller)

    def work() -> list[str]:
        with _in_turn(host, operation):
            if _check_new(host, name, query):
                host.deployed.attach(query, name=name)
        host.tell()
        return outputs_of(name, query)

    return host.operations.start(operation, work)


def _check_new(host: Host, name: str, query: Network) -> bool:
    """Whether a query is not attached yet; another one of its name is refused."""
    known = host.deployed.attached().get(name)
    if known is not None and known != query:
        what = f"another query {name!r} is attached"
        raise ServiceError(ErrorCode.CONFLICT, Problem(name, what, "another name, or DELETE it first"))
    return known is None


def detach(host: Host, name: str) -> bool:
    """Remove a query; whether there was one."""
    with host.changing:
        if name not in host.deployed.attached():
            return False
        try:
            host.deployed.detach(name)
        except EngineError:
            if name in host.deployed.attached():
                raise
            # The node has removed it meanwhile, as it does with those that fail.
            return False
    host.tell()
    return True


def outputs_of(name: str, query: Network) -> list[str]:
    """The names of a query's outputs on the node."""
    return list(output_names(name, query).values())
