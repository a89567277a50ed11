"""Grants and pieces for tests."""

from __future__ import annotations

import json
import secrets
import time
from pathlib import Path
from typing import Any

from tests.cluster.identities import identity
from tests.cluster.nodes import Linked

import australis
from australis.algebra.boxes import Box, Filter
from australis.algebra.network import Network
from australis.cluster.grants import SUFFIX, Grant, Limits, Signed, Withdrawal, signed
from australis.cluster.identity import Credentials

SCHEMA = "k long not null, v double"
HOUR_US = 3_600_000_000


def now_us() -> int:
    return time.time_ns() // 1000


def grant(**changes: Any) -> Grant:
    """`shop` lets nodes of `lab` put filters and maps behind its outputs."""
    given = {
        "id": secrets.token_hex(16),
        "serial": 1,
        "granter": "shop",
        "nodes": ("shop/*",),
        "holders": ("lab/*",),
        "outputs": ("seen",),
        "begins": 0,
        "expires": now_us() + HOUR_US,
        "boxes": ("filter", "map"),
        **changes,
    }
    return Grant(**{**given, "limits": Limits(**given.get("limits", {}))})


def sealed(folder: Path, said: Grant | Withdrawal, signer: str = "shop/a") -> Signed:
    return signed(said, Credentials.load(identity(folder, signer, ("lab", "shop"))))


def withdrawal(of: Grant) -> Withdrawal:
    return Withdrawal(of.id, of.serial, of.granter, now_us(), of.expires)


def hold(folder: Path, given: Signed, name: str = "some") -> Path:
    """A file with a grant."""
    place = folder / "grants"
    place.mkdir(exist_ok=True)
    file = place / f"{name}{SUFFIX}"
    file.write_bytes(given.data)
    return place


def reading(*before: Box, source: str = "shop/a/seen", schema: str = SCHEMA, **given: Any) -> Network:
    """A network that reads an output of another node after boxes that run there."""
    net = australis.NetworkBuilder("reading")
    net.input("n", schema, source=source, before=before, **given).output("seen")
    return net.build()


def definition(*boxes: dict[str, Any], schema: dict[str, str] | None = None, **more: Any) -> str:
    makes = schema or {"k": "long not null", "v": "double"}
    return json.dumps({"before": list(boxes), "schema": makes, **more})


def big(least: int) -> Filter:
    return Filter((f"k >= {least}",))


def two(folder: Path, network: Network, *grants: Path, **options: Any) -> tuple[Linked, Linked]:
    """A node of the shop, and one of the lab that holds grants."""
    a = Linked(folder, "shop/a", trusts=("lab", "shop"), watch_s=0.2, **options)
    b = Linked(folder, "lab/b", network, trusts=("lab", "shop"), grants=grants)
    return a, b
