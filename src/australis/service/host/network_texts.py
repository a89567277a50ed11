"""Networks as callers send them: documents, or texts of JSON or YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from australis.algebra.form import from_json, loads
from australis.algebra.network import Network
from australis.errors import AlgebraError, ErrorCode, Problem, ServiceError


def network_of(given: Mapping[str, Any] | str, *, query: bool = False) -> Network:
    """The network of a document or a text; one that is not valid is refused with all that is wrong."""
    try:
        if isinstance(given, str):
            return loads(given, ".json" if given.lstrip().startswith("{") else ".yaml", query=query)
        return from_json(dict(given), query=query)
    except AlgebraError as error:
        raise invalid(error) from error
    except RecursionError:
        problem = Problem("", "is nested too deeply", "a network")
        raise ServiceError(ErrorCode.INVALID_NETWORK, problem) from None


def invalid(error: AlgebraError) -> ServiceError:
    """The refusal of a network: the first problem says where, and the text has all of them."""
    first, *others = error.problems
    if not others:
        return ServiceError(ErrorCode.INVALID_NETWORK, first)
    more = "\n".join(str(each) for each in others)
    problem = Problem(first.path, f"{first.what}; and {len(others)} more:\n{more}", first.expected)
    return ServiceError(ErrorCode.INVALID_NETWORK, problem)
