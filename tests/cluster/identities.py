"""Identities for tests: participants with authorities, and nodes that trust some of them."""

from __future__ import annotations

import shutil
from pathlib import Path

from australis.cluster.identity import Authority, NodeName, new_node


def authority(folder: Path, participant: str = "lab") -> Authority:
    """The authority of a participant, made when it is asked for first."""
    home = folder / f"authority-{participant}"
    return Authority.load(home) if home.exists() else Authority.new(participant, home)


def identity(folder: Path, name: str, trusts: tuple[str, ...] = ()) -> Path:
    """The folder of a node that trusts its own participant and some others."""
    node, home = NodeName.parse(name), folder / name.replace("/", "-")
    if not home.exists():
        authority(folder, node.participant).admit(home, new_node(node, home))
    for each in trusts:
        authority(folder, each)
        theirs = folder / f"authority-{each}" / "authority.pem"
        shutil.copy(theirs, home / "authorities" / f"{each}.pem")
    return home
