"""Who may do what: roles, tokens, limits, the audit log, and what a deployed network may name.

In: what a caller presents, and settings. Out: a `Caller` with a role, or a refusal; a line in the audit log
for every change.
"""

from australis.service.access.access import Access
from australis.service.access.audit import FILE as AUDIT_FILE
from australis.service.access.audit import AuditLog
from australis.service.access.caller import ANONYMOUS, Caller
from australis.service.access.exposure import check_exposure
from australis.service.access.network_rules import NetworkRules
from australis.service.access.origins import is_loopback
from australis.service.access.roles import Role
from australis.service.access.tokens import Token, TokenFile

__all__ = [
    "ANONYMOUS",
    "AUDIT_FILE",
    "Access",
    "AuditLog",
    "Caller",
    "NetworkRules",
    "Role",
    "Token",
    "TokenFile",
    "check_exposure",
    "is_loopback",
]
