"""The roles: each may do what the one before it may."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a caller may do.

    >>> Role.OWNER.includes(Role.VIEWER), Role.VIEWER.includes(Role.OPERATOR)
    (True, False)
    """

    VIEWER = "viewer"
    """Read everything that is not a secret."""
    OPERATOR = "operator"
    """Push, pause, attach queries, as well."""
    OWNER = "owner"
    """Deploy and remove networks, and read the audit log, as well."""

    def includes(self, other: Role) -> bool:
        """Whether a caller of this role may do what the other may."""
        roles = list(Role)
        return roles.index(self) >= roles.index(other)
