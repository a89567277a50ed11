"""Pieces as the node has them that runs them: what should run, how it goes, and why one does not run."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from australis.cluster.grants.grant import Grant, Signed
from australis.cluster.grants.piece import name_of
from australis.cluster.grants.watched import Watched
from australis.cluster.wire import Refused
from australis.errors import ClusterError, Problem
from australis.policy.machines import Count, Name, Value


class Placed(Value, frozen=True):
    """A piece that should run here."""

    holder: Name
    """The node that reads it."""
    name: Name
    """The input into which it reads it."""
    version: Count
    output: Name
    """The output that it reads."""
    definition: str
    grant: Signed | None = None
    """None for a node of the same participant, which needs none."""
    stopped: str = ""
    """Why it does not run, until it is defined in another way or by another grant."""

    @property
    def key(self) -> tuple[str, str]:
        """Whose it is, and for what."""
        return self.holder, self.name

    @property
    def query(self) -> str:
        """Its name among the queries of this node, and that of its output."""
        return name_of(self.holder, self.name)

    @property
    def granted(self) -> Grant | None:
        """The grant, without its seal."""
        said = None if self.grant is None else self.grant.said
        return said if isinstance(said, Grant) else None


@dataclass(frozen=True)
class PieceStatus:
    """How a piece of another node goes that runs here."""

    name: str
    """Of the query, and of its output."""
    holder: str
    """The node and the input that read it."""
    output: str
    definition: str
    grant: str
    """The id of the grant; empty if it needs none."""
    problem: str
    """Why it is stopped."""
    rate: float
    """Tuples that left it per second, lately."""
    cores: float
    """The part of a core that it used."""
    state: int
    """The bytes of its states, and of what waits for its reader."""


class PieceRefused(ClusterError):
    """A piece that is not run here, and why."""

    def __init__(self, code: Refused, why: str, expected: str = "") -> None:
        super().__init__(Problem("", why, expected))
        self.code = code


def renewed(known: Placed, wanted: Placed) -> Placed:
    """A piece that is defined again: the same one whatever its version, another one only if it is later."""
    version = max(known.version, wanted.version)
    is_same = (known.definition, known.output) == (wanted.definition, wanted.output)
    if not is_same and wanted.version <= known.version:
        raise PieceRefused(Refused.PIECE, f"a later version of it is known than {wanted.version}")
    serial = [0 if each.granted is None else each.granted.serial for each in (known, wanted)]
    if is_same and known.grant == wanted.grant:
        return msgspec.structs.replace(known, version=version)
    stopped = known.stopped if is_same and serial[1] <= serial[0] else ""
    return msgspec.structs.replace(wanted, version=version, stopped=stopped)


def status_of(piece: Placed, watched: Watched | None) -> PieceStatus:
    """How a piece goes; one that does not run was not watched."""
    grant = piece.granted
    figures = (0.0, 0.0, 0) if watched is None else (watched.rate, watched.cores, watched.state)
    holder, name = f"{piece.holder}/{piece.name}", "" if grant is None else grant.id
    return PieceStatus(piece.query, holder, piece.output, piece.definition, name, piece.stopped, *figures)
