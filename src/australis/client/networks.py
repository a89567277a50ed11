"""Calls about the network of a node: what runs, and what shall run instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from australis.algebra.form import from_json, to_json
from australis.algebra.network import Network
from australis.client.operation import operation
from australis.client.wire import Request, Steps, error_of
from australis.errors import Problem

NetworkLike = Network | Mapping[str, Any] | str
"""A network as a value, in its JSON form, or as a text of JSON or YAML."""


@dataclass(frozen=True)
class Change:
    """What another network would change, or has changed."""

    difference: Mapping[str, Any]
    shown: tuple[str, ...] = ()
    revision: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As a dictionary, for programs."""
        return dict(self.difference)

    def lines(self) -> tuple[str, ...]:
        """As text, for people."""
        return self.shown


@dataclass(frozen=True)
class Checked:
    """Whether a network is valid, and what is wrong with it if not."""

    ok: bool
    problems: tuple[Problem, ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict)
    """All that the node says: the schemas of arcs, the inputs and outputs."""
    warnings: tuple[Problem, ...] = ()
    """What is allowed, but probably not meant."""


class Networks:
    """The calls about networks, of both clients."""

    @operation
    def network(self) -> Steps[Network]:
        """The network of the node, as it was deployed."""
        told = (yield Request.of("GET", "/v1/network")).json()
        return from_json(told["network"])

    @operation
    def check(self, network: NetworkLike) -> Steps[Checked]:
        """Whether the node could run a network, and all that is wrong with it."""
        told = (yield Request.of("POST", "/v1/network/check", {"network": as_sent(network)})).json()
        problems, warnings = (_problems(told.get(name, ())) for name in ("problems", "warnings"))
        return Checked(bool(told["ok"]), problems, told, warnings)

    @operation
    def difference(self, network: NetworkLike) -> Steps[Change]:
        """What `deploy` would change: which boxes keep their state, what is added, removed and lost."""
        told = (yield Request.of("POST", "/v1/network/diff", {"network": as_sent(network)})).json()
        return _change(told.get("difference", told), told)

    @operation
    def deploy(
        self,
        network: NetworkLike,
        *,
        tables: Mapping[str, Any] | None = None,
        accept_loss: bool = False,
        revision: str | None = None,
    ) -> Steps[Change]:
        """Run a network, in place of the one that runs, if any; boxes that are the same keep their state.

        What would lose something is refused, unless `accept_loss`. With a `revision`, it is refused if
        another network runs by now. `tables` are rows of stored tables, dictionaries or Arrow tables.
        """
        body: dict[str, Any] = {"network": as_sent(network)}
        if tables:
            body["tables"] = {name: _rows(rows) for name, rows in tables.items()}
        if accept_loss:
            body["accept_loss"] = True
        request = Request.of("PUT", "/v1/network", body)
        if revision is not None:
            request = _with_header(request, "If-Match", f'"{revision}"')
        told = yield from self._finished((yield request).json())
        return _change(told.get("difference") or {}, told)

    @operation
    def remove(self, *, accept_loss: bool = False) -> Steps[None]:
        """Remove the network, with all that it keeps; refused if that loses something not accepted."""
        answer = yield Request.of("DELETE", "/v1/network", accept_loss=accept_loss or None)
        if answer.content:
            yield from self._finished(answer.json())

    @operation
    def move(self, boxes: Sequence[str], to: str) -> Steps[dict[str, Any]]:
        """Let boxes, or groups of boxes, run at another node, with their states; how it went.

        If its `state` is `given` and not `taken`, the other node was lost: they begin there when it is back.
        """
        request = Request.of("POST", "/v1/cluster/moves", {"boxes": list(boxes), "to": to})
        told: dict[str, Any] = yield from self._finished((yield request).json())
        return told

    @operation
    def pause(self) -> Steps[None]:
        """Start no more trains, and wait for the running ones to finish."""
        yield Request.of("POST", "/v1/network/pause")

    @operation
    def resume(self) -> Steps[None]:
        """Continue, also after an error whose cause was fixed."""
        yield Request.of("POST", "/v1/network/resume")

    @operation
    def step(self) -> Steps[Mapping[str, Any] | None]:
        """Run one train while the node is paused; None if there is nothing to do."""
        told = (yield Request.of("POST", "/v1/network/step", repeatable=False)).json()
        return told.get("train") if isinstance(told, dict) else None

    @operation
    def set_breakpoint(self, name: str, arc: str, where: str = "true") -> Steps[None]:
        """Pause before the train that would take a tuple of an arc that satisfies a predicate."""
        yield Request.of("PUT", f"/v1/breakpoints/{quote(name, safe='')}", {"arc": arc, "where": where})

    @operation
    def breakpoints(self) -> Steps[dict[str, dict[str, Any]]]:
        """The breakpoints by name: how often each has paused the node, and where it waits now."""
        told = listed((yield Request.of("GET", "/v1/breakpoints")).json(), "breakpoints")
        return {each["name"]: each for each in told}

    @operation
    def remove_breakpoint(self, name: str) -> Steps[bool]:
        """Remove a breakpoint; whether there was one."""
        answer = yield Request.of("DELETE", f"/v1/breakpoints/{quote(name, safe='')}")
        return bool(answer.json()["removed"])

    @operation
    def optimiser(self) -> Steps[dict[str, Any]]:
        """The network as it was deployed and as the optimiser lets it run, and what it did why."""
        told: dict[str, Any] = (yield Request.of("GET", "/v1/optimiser")).json()
        return told

    @operation
    def operations(self) -> Steps[list[dict[str, Any]]]:
        """The long operations of the node, and how far they have come."""
        return listed((yield Request.of("GET", "/v1/operations")).json(), "operations")

    @operation
    def cancel(self, operation_id: str) -> Steps[None]:
        """Cancel a long operation."""
        yield Request.of("DELETE", f"/v1/operations/{quote(operation_id, safe='')}")

    @operation
    def attached(self) -> Steps[dict[str, Network]]:
        """The ad hoc queries that are attached, by name."""
        told = listed((yield Request.of("GET", "/v1/queries")).json(), "queries")
        return {each["name"]: from_json(each["network"], query=True) for each in told}

    @operation
    def detach(self, name: str) -> Steps[None]:
        """Remove an ad hoc query, with all that it keeps."""
        yield Request.of("DELETE", f"/v1/queries/{quote(name, safe='')}")

    @operation
    def split(
        self,
        box: str,
        into: int = 2,
        *,
        by: Sequence[str] = (),
        any_order: bool = False,
        dry_run: bool = False,
    ) -> Steps[Change]:
        """Run a box as several copies, each with its share of the tuples and of the state."""
        body = {"into": into, "by": list(by), "any_order": any_order}
        path = f"/v1/splits/{quote(box, safe='')}"
        return _split_change((yield Request.of("PUT", path, body, dry_run=dry_run or None)).json())

    @operation
    def unsplit(self, box: str, *, dry_run: bool = False) -> Steps[Change]:
        """Run a box that was split as one again, with the states of its copies."""
        path = f"/v1/splits/{quote(box, safe='')}"
        return _split_change((yield Request.of("DELETE", path, dry_run=dry_run or None)).json())

    @operation
    def splits(self) -> Steps[dict[str, dict[str, Any]]]:
        """The boxes that run as copies, and how."""
        return {
            each["box"]: each for each in listed((yield Request.of("GET", "/v1/splits")).json(), "splits")
        }

    def _attaching(self, network: NetworkLike, name: str) -> Steps[tuple[str, ...]]:
        """Attach a query; returns the names of its outputs on the node."""
        path = f"/v1/queries/{quote(name, safe='')}"
        told = (yield Request.of("PUT", path, {"network": as_sent(network)})).json()
        return tuple(told["outputs"])

    def _finished(self, told: dict[str, Any]) -> Steps[dict[str, Any]]:
        """The result of an operation that may take longer than a call."""
        while "state" in told and "id" in told and told["state"] in ("waiting", "running"):
            told = (yield Request.of("GET", f"/v1/operations/{told['id']}", wait_s=10)).json()
        if told.get("error"):
            raise error_of(told["error"])
        return told["result"] or {} if "result" in told else told


def as_sent(network: NetworkLike) -> Any:
    """A network as a body has it."""
    return to_json(network) if isinstance(network, Network) else network


def listed(told: Any, name: str) -> list[dict[str, Any]]:
    """The list in an answer, whether or not it is under a name."""
    found = told if isinstance(told, list) else told[name]
    return list(found)


def _change(difference: Mapping[str, Any], told: Mapping[str, Any]) -> Change:
    return Change(difference, tuple(told.get("lines") or ()), told.get("revision"))


def _split_change(told: Mapping[str, Any]) -> Change:
    own = ("box", "copies", "added", "removed", "same")
    return Change({name: told[name] for name in own}, tuple(told["lines"]))


def _with_header(request: Request, name: str, value: str) -> Request:
    return Request(
        request.method, request.path, request.params, {**request.headers, name: value}, request.content
    )


def _rows(rows: Any) -> Any:
    return rows.to_pylist() if hasattr(rows, "to_pylist") else list(_dictionaries(rows))


def _dictionaries(rows: Any) -> Iterator[Any]:
    return iter(rows.to_dict("records") if hasattr(rows, "to_dict") else rows)


def _problems(told: Sequence[Mapping[str, Any]]) -> tuple[Problem, ...]:
    return tuple(
        Problem(each.get("path", ""), each.get("what", ""), each.get("expected") or "") for each in told
    )
