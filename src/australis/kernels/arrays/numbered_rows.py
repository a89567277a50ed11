"""What of a state is kept by key: tables whose rows are numbered, and those whose rows have such a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from australis.errors import KernelError, Problem

PortKeys = tuple[tuple[str, ...], ...]
"""For each port of a box, the attributes by which its tuples are partitioned; one for one on every port."""


@dataclass(frozen=True)
class Numbered:
    """A table of a state with one row for each key: its place there is the number of the key."""

    table: str
    names: tuple[str, ...]
    """The columns that tell keys from each other."""
    partitioned_by: tuple[str, ...]
    """Those of them that say in which partition a key is."""
    followers: Mapping[str, str]
    """The tables whose rows belong to a key, each with the column that has its number."""


def by_group(
    table: str, group_by: Sequence[str], keys: Sequence[str], followers: Mapping[str, str]
) -> Numbered:
    """The groups of an order, whose attributes must decide the partition."""
    if not keys or not set(keys) <= set(group_by):
        grouped = f"groups by {', '.join(group_by)}" if group_by else "has no groups"
        asked = ", ".join(keys) or "no attributes"
        raise KernelError(
            Problem(table, f"{grouped}, so it cannot be partitioned by {asked}", "some attributes grouped by")
        )
    return Numbered(table, tuple(group_by), tuple(keys), followers)
