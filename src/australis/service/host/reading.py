"""What a host tells of the parts of its network: how they are drawn, and how they do."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from australis.algebra.form import to_json
from australis.algebra.network import QUARANTINE, Network
from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.host.host import Host
from australis.service.host.plain import plain

Told = dict[str, Any]
QUARANTINE_BYTES_MOST = 64 << 20
"""How much of the quarantine is looked at, on disk."""


def network_of_host(host: Host) -> Network:
    """The network as it runs, with its queries and drop boxes."""
    return host.deployed.network()


def boxes(host: Host) -> list[Told]:
    """Every box: what it is, what it has done, and how large its state is."""
    network, known = network_of_host(host), host.deployed.statistics()
    document = to_json(network).get("boxes", {})
    return [
        {
            "id": name,
            "kind": document[name]["box"],
            "tag": document[name].get("tag", ""),
            "description": document[name].get("description", ""),
            "definition": document[name],
            "schemas": [str(each) for each in _schemas_of(network, name)],
            "statistics": None if name not in known.boxes else _counted(known.boxes[name]),
        }
        for name in network.order
    ]


def _counted(statistics: Any) -> Told:
    found: Told = plain(statistics)
    return found | {"selectivity": plain(statistics.selectivity), "cost_us": plain(statistics.cost_us)}


def _schemas_of(network: Network, box: str) -> list[Any]:
    found = {ref.port: schema for ref, schema in network.schemas.items() if ref.id == box}
    return [found[port] for port in sorted(found)]


def inputs(host: Host) -> list[Told]:
    """Every input: what it takes, and what came."""
    network, known = network_of_host(host), host.deployed.statistics()
    return [
        {
            "name": name,
            "schema": str(given.schema),
            "weight": given.weight,
            "is_table": given.table,
            "has_store": given.store is not None,
            "description": given.description,
            "received": known.inputs[name].received if name in known.inputs else 0,
            "rejected": known.inputs[name].rejected if name in known.inputs else 0,
            "mark": plain(known.marks[name]) if name in known.marks else None,
            "table": plain(known.tables[name]) if name in known.tables else None,
        }
        for name, given in network.inputs.items()
    ]


def outputs(host: Host) -> list[Told]:
    """Every output: what it gives, how much and how late, and what that is worth."""
    network, known = network_of_host(host), host.deployed.statistics()
    document = to_json(network).get("outputs", {})
    return [
        {
            "name": name,
            "schema": str(network.output_schema(name)),
            "from": None if name == QUARANTINE else str(network.outputs[name].source),
            "description": document.get(name, {}).get("description", ""),
            "quality": document.get(name, {}).get("quality"),
            "statistics": plain(known.outputs[name]) if name in known.outputs else None,
        }
        for name in [*network.outputs, QUARANTINE]
    ]


def points(host: Host) -> list[Told]:
    """Every connection point: where it is, and what it keeps."""
    network, known = network_of_host(host), host.deployed.statistics()
    document = to_json(network).get("connection_points", {})
    return [
        {
            "name": name,
            "at": str(point.at),
            "schema": str(network.schemas[point.at]),
            "history": document[name].get("history"),
            "tuples": known.arcs.get(str(point.at), 0),
        }
        for name, point in network.connection_points.items()
    ]


def one(found: list[Told], kind: str, name: str, key: str = "name") -> Told:
    """The one of a name."""
    for each in found:
        if each[key] == name:
            return each
    known = ", ".join(each[key] for each in found) or "none"
    raise ServiceError(ErrorCode.NOT_FOUND, Problem(name, f"there is no {kind} {name!r}", f"one of {known}"))


def check_output(host: Host, name: str) -> None:
    """Refuse an output that is not there."""
    one(outputs(host), "output", name)


def quarantine(host: Host, limit: int) -> pa.Table:
    """The last tuples that no box could process, with the reasons."""
    node = host.deployed
    table = node.read(QUARANTINE, node.window(QUARANTINE, limit, QUARANTINE_BYTES_MOST))
    return table.slice(max(0, table.num_rows - limit))
