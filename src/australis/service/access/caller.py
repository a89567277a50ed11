"""Who calls."""

from __future__ import annotations

from dataclasses import dataclass

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.access.roles import Role

ANONYMOUS = "anonymous"
"""The name of a caller without a token; no token has it."""


@dataclass(frozen=True)
class Caller:
    """The name of a token, and its role."""

    name: str
    role: Role

    def check(self, role: Role) -> None:
        """Refuse a caller whose role does not include another one."""
        if not self.role.includes(role):
            what = f"{self.name} has the role {self.role}"
            raise ServiceError(ErrorCode.FORBIDDEN, Problem("", what, f"the role {role}"))
