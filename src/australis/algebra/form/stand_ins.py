"""Stand-ins for faulty parts of a document, so that all other parts can be checked as well."""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from australis.errors import Problem

Json = Any
UNKNOWN_FIELD = "unknown field"
"""How the message about a field that a part does not have begins."""
_HARMLESS = ("quality", "history", "importance", "store", "format", "weight", "tag", "description")
"""The fields of a part that do not affect the meaning of other parts."""
_NAMED = ("schema", "attributes", "functions")
"""The fields that name attributes of a stream one by one."""
_PATH = re.compile(r"([^.\[]+)(?:\[(\d+)\]|\.([^.\[]+))?")


def without_faults(part: Json, problems: Iterable[Problem]) -> tuple[Json, frozenset[str]] | None:
    """The part without its faults, and the attributes that it would name; None if that is unknown.

    >>> bad = {"box": "map", "attributes": {"a": "1 +", "b": "2"}, "colour": "red"}
    >>> without_faults(bad, [Problem("attributes.a", "unexpected"), Problem("colour", "unknown field")])
    ({'box': 'map', 'attributes': {'b': '2'}}, frozenset({'a'}))
    """
    if not isinstance(part, dict):
        return None
    made, unknown = deepcopy(part), set()
    for problem in problems:
        match = _PATH.match(problem.path)
        field, index, name = match.groups() if match else ("", None, None)
        if field in _HARMLESS or problem.what.startswith(UNKNOWN_FIELD):
            made.pop(field, None)
        elif field == "predicates" and index is not None:
            made[field][int(index)] = "true"
        elif field in _NAMED and name is not None and isinstance(made.get(field), dict):
            made[field].pop(name, None)
            unknown.add(name)
        else:
            return None
    return made, frozenset(unknown)
