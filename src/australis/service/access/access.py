"""Access: decides who a caller is, from what the call presents, and whether it may call now."""

from __future__ import annotations

import logging
import time

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.access.caller import ANONYMOUS, Caller
from australis.service.access.limits import Rates
from australis.service.access.network_rules import NetworkRules
from australis.service.access.origins import Origins
from australis.service.access.roles import Role
from australis.service.access.tokens import Token, TokenCheck
from australis.service.settings import ServiceSettings

_log = logging.getLogger(__name__)
BEARER = "bearer "


class Access:
    """Who may call, by the settings; may be used from any thread."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings.access
        self.limits = settings.access.limits
        self.rules = NetworkRules(settings.access)
        self.origins = Origins(settings)
        self._tokens = None if self.settings.tokens is None else TokenCheck(self.settings.tokens)
        default = Role.OWNER if self._tokens is None else None
        self._anonymous = Role(self.settings.anonymous) if self.settings.anonymous else default
        self._rates = Rates(self.limits.rate, time.monotonic)

    def caller(self, authorization: str | None) -> Caller:
        """The caller of an `Authorization` header; raises `unauthenticated`, or `too_many` for its rate."""
        caller = self._caller(authorization)
        self._rates.take(caller.name)
        return caller

    def _caller(self, authorization: str | None) -> Caller:
        if authorization is None:
            if self._anonymous is None:
                raise _refused("is missing")
            return Caller(ANONYMOUS, self._anonymous)
        if not authorization.lower().startswith(BEARER):
            raise _refused("is no bearer token")
        token = self._found(authorization[len(BEARER) :].strip())
        if token is None:
            raise _refused("is no token of this service, or no longer")
        return Caller(token.name, token.role)

    def _found(self, text: str) -> Token | None:
        try:
            return None if self._tokens is None else self._tokens.find(text)
        except ServiceError as error:
            # Who has shown no token is not told which file has them, and what is wrong with it.
            _log.error("tokens cannot be checked: %s", error)
            problem = Problem("authorization", "cannot be checked", "the log of the service, which says why")
            raise ServiceError(ErrorCode.INTERNAL, problem) from None


def _refused(what: str) -> ServiceError:
    problem = Problem("authorization", what, "Authorization: Bearer TOKEN, with a token of this service")
    return ServiceError(ErrorCode.UNAUTHENTICATED, problem)
