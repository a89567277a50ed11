"""Grants and their withdrawals: signed values, which whoever has them can show and nobody can change."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Annotated, Any, TypeVar

import msgspec

from australis.cluster.identity import Credentials, NodeName, Seal, Seals
from australis.cluster.wire import GRANT_MOST
from australis.errors import ClusterError, Problem
from australis.policy.machines import ENCODE, Amount, Count, Name, Natural, Value, decoded

PATTERNS_MOST = 40
Pattern = Annotated[str, msgspec.Meta(min_length=1, max_length=130)]
Patterns = Annotated[tuple[Pattern, ...], msgspec.Meta(min_length=1, max_length=PATTERNS_MOST)]
GrantId = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}$")]
_EVERYTHING = ("*",)
_SIGNED = TypeVar("_SIGNED", bound="Grant | Withdrawal")


class Limits(Value, frozen=True):
    """What the pieces of a grant may take; None is no limit."""

    pieces: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    """How many there may be at each node."""
    boxes: Annotated[int, msgspec.Meta(ge=1, le=100)] = 10
    """How many boxes each may have."""
    rate: Amount | None = None
    """Tuples per second that leave each of them."""
    state: Natural | None = None
    """Bytes of the states of each, and of what waits for its reader."""
    cores: Amount | None = None
    """The part of a core that each may use."""


class Grant(Value, frozen=True):
    """A participant lets nodes of others put boxes behind outputs of its nodes."""

    id: GrantId
    serial: Count
    """A renewal has the id of what it takes the place of, and a greater serial."""
    granter: Name
    """The participant that grants."""
    nodes: Patterns
    """Its nodes at which the grant holds."""
    holders: Patterns
    """The nodes that it is for."""
    outputs: Patterns
    begins: Natural
    expires: Count
    """From when and until when it holds, in microseconds since 1970."""
    boxes: Patterns
    """The boxes that are offered."""
    functions: Patterns = _EVERYTHING
    """The functions of expressions and windows that are offered; operators always are."""
    limits: Limits = Limits()

    @property
    def expires_at(self) -> datetime:
        """When it ends."""
        return datetime.fromtimestamp(self.expires / 1e6, UTC)

    def covers(self, holder: str, node: str, output: str) -> bool:
        """Whether it lets a node put boxes behind an output of another one."""
        return (
            fits(self.holders, holder)
            and fits(self.nodes, node)
            and node.partition("/")[0] == self.granter
            and fits(self.outputs, output)
        )


class Withdrawal(Value, frozen=True):
    """The grants of an id, up to a serial number, hold no more."""

    id: GrantId
    serial: Count
    granter: Name
    at: Count
    """When it was withdrawn."""
    expires: Count
    """When the grant would have ended: after that, nobody needs to remember this."""

    @property
    def withdrawn_at(self) -> datetime:
        """When it was withdrawn."""
        return datetime.fromtimestamp(self.at / 1e6, UTC)

    def ends(self, grant: Grant) -> bool:
        """Whether a grant is one of those that hold no more."""
        return (grant.granter, grant.id) == (self.granter, self.id) and grant.serial <= self.serial


class Signed(Value, frozen=True):
    """A grant or a withdrawal, and the seal of a node of the participant that grants."""

    said: Grant | Withdrawal
    seal: Seal

    @property
    def data(self) -> bytes:
        """As it is shown to others, and kept in files."""
        return ENCODE(self)


def fits(patterns: Iterable[str], name: str) -> bool:
    """Whether a name matches one of some patterns.

    >>> fits(("lab/*", "shop/a"), "shop/b"), fits(("lab/*",), "lab/b")
    (False, True)
    """
    return any(fnmatchcase(name, each) for each in patterns)


def signed(said: Grant | Withdrawal, credentials: Credentials) -> Signed:
    """A grant or a withdrawal with a node's seal; the node must be one of the participant that grants."""
    if credentials.name.participant != said.granter:
        what = f"{credentials.name} cannot sign for {said.granter}"
        raise ClusterError(Problem("", what, f"the identity of a node of {said.granter}"))
    found = Signed(said, credentials.seal(_bytes(said)))
    if len(found.data) > GRANT_MOST:
        what = f"is a grant of {len(found.data):,} bytes"
        raise ClusterError(Problem("", what, f"fewer patterns: at most {GRANT_MOST:,} bytes"))
    return found


def read_signed(data: bytes, path: str = "", kind: Any = Grant) -> Signed:
    """The grant, or another signed value, that some bytes are; its seal is not examined yet."""
    found = decoded(Signed, data) if len(data) <= 2 * GRANT_MOST else None
    if found is None or not isinstance(found.said, kind):
        noun = "withdrawal of a grant" if kind is Withdrawal else "grant"
        raise ClusterError(Problem(path, f"is no {noun}", "what `australis grant` has written"))
    signed_value: Signed = found
    return signed_value


def examined(given: Signed, seals: Seals, now: int, path: str = "") -> NodeName:
    """The node that has signed a grant that holds now, or a withdrawal; raises if none could have."""
    said = given.said
    signer = seals.signer(given.seal, _bytes(said), now)
    if signer is None:
        what = "is signed by no node that is trusted, or was changed after that"
        raise ClusterError(Problem(path, what, f"the seal of a node of {said.granter}"))
    if signer.participant != said.granter:
        what = f"speaks for {said.granter}, but {signer} has signed it"
        raise ClusterError(Problem(path, what, f"the seal of a node of {said.granter}"))
    if isinstance(said, Grant):
        _check_time(said, now, path)
    return signer


def _check_time(grant: Grant, now: int, path: str) -> None:
    if now >= grant.expires:
        raise ClusterError(
            Problem(path, f"the grant ended at {grant.expires_at:%Y-%m-%d %H:%M} UTC", "a new one")
        )
    if now < grant.begins:
        begins = datetime.fromtimestamp(grant.begins / 1e6, UTC)
        raise ClusterError(Problem(path, f"the grant begins at {begins:%Y-%m-%d %H:%M} UTC"))


def _bytes(said: Grant | Withdrawal) -> bytes:
    """What is signed; its head and the tag of the value say what it is, so it passes for nothing else."""
    return b"australis grant\n" + ENCODE(said)
