"""Regular expressions, by Python's own: patterns are in the subset that all engines read alike."""

from __future__ import annotations

import re
from functools import lru_cache

from australis.algebra.expr import Value, regular, replacement
from australis.reference.expressions.site import CallSite, Function


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(regular(pattern).text(end=r"\Z"))


def matches(_: CallSite, value: str, pattern: str) -> Value:
    return _compiled(pattern).search(value) is not None


def extract(_: CallSite, value: str, pattern: str, group: int) -> Value:
    """What a group of the first match has; empty without a match, or if the group is no part of it."""
    found = _compiled(pattern).search(value)
    return (found[group] or "") if found else ""


def replace(_: CallSite, value: str, pattern: str, new: str) -> Value:
    pieces = replacement(new, regular(pattern))
    return _compiled(pattern).sub(
        lambda found: "".join((found[p] or "") if isinstance(p, int) else p for p in pieces), value
    )


FUNCTIONS: dict[str, Function] = {
    "rlike": matches,
    "regexp_extract": extract,
    "regexp_replace": replace,
}
