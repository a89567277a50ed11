"""Tickets and descriptors: JSON that says what a call is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyarrow import flight

from australis.errors import ErrorCode, Problem, ServiceError

_NUMBER = "a whole number from 0, or null"
_CHECKS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "input": ((str,), "the name of an input"),
    "source": ((str, type(None)), "the name of a source, or null"),
    "output": ((str,), "the name of an output"),
    "from": ((int, type(None)), _NUMBER),
    "to": ((int, type(None)), _NUMBER),
    "follow": ((bool,), "true or false"),
    "consumer": ((str, type(None)), "the name of a consumer, or null"),
    "point": ((str,), "the name of a connection point"),
    "where": ((str, type(None)), "a predicate, or null"),
    "since": ((str, int, type(None)), "a time, or null"),
    "until": ((str, int, type(None)), "a time, or null"),
    "columns": ((list, type(None)), "names of attributes, or null"),
    "limit": ((int, type(None)), _NUMBER),
}


def parsed(data: bytes, *kinds: str) -> dict[str, Any]:
    """The fields of a ticket or command, which is about one of some kinds.

    >>> parsed(b'{"output": "o", "from": 7}', "output", "point")
    {'output': 'o', 'from': 7}
    """
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        raise _invalid("", "is no JSON", 'such as {"output": NAME}') from None
    if not isinstance(given, dict) or sum(kind in given for kind in kinds) != 1:
        raise _invalid("", "does not say what it is about", f"an object with {' or '.join(kinds)}")
    for name, value in given.items():
        types, expected = _CHECKS.get(name, ((), f"one of {', '.join(_CHECKS)}"))
        if not types or not isinstance(value, types) or (type(value) is bool and types != (bool,)):
            raise _invalid(name, f"is {str(value)[:40]!r}", expected)
        if type(value) is int and not 0 <= value < 1 << 62:
            raise _invalid(name, f"is {value}", expected)
    return given


def command_of(descriptor: flight.FlightDescriptor, *kinds: str) -> dict[str, Any]:
    """The fields of a descriptor's command."""
    if descriptor.descriptor_type != flight.DescriptorType.CMD:
        raise _invalid("", "is a path", 'a command, such as {"input": NAME}')
    return parsed(descriptor.command, *kinds)


def _invalid(path: str, what: str, expected: str) -> ServiceError:
    place = f"ticket.{path}" if path else "ticket"
    return ServiceError(ErrorCode.INVALID_REQUEST, Problem(place, what, expected))
