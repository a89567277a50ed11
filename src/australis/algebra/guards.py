"""Guards: check that an argument is of the kind that a field takes, and refuse it by the field's name."""

from __future__ import annotations

from reprlib import Repr

from australis.errors import AlgebraError, Problem

Kinds = type | tuple[type, ...]

_SHORT = Repr()
_SHORT.maxlevel = 3
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def is_a(value: object, kinds: Kinds) -> bool:
    """Whether a value is of some kinds; true and false do not count as numbers.

    >>> is_a(1, int), is_a(True, int), is_a(True, bool)
    (True, False, True)
    """
    wanted = kinds if isinstance(kinds, tuple) else (kinds,)
    return isinstance(value, kinds) and (bool in wanted or not isinstance(value, bool))


def guard(value: object, kinds: Kinds, path: str, expected: str) -> None:
    """Refuse a value of another kind."""
    if not is_a(value, kinds):
        raise AlgebraError(Problem(path, f"is {shown(value)}", expected))


def guard_texts(item: object, *fields: str) -> None:
    """Refuse an object in which some fields are not texts."""
    for name in fields:
        guard(getattr(item, name), str, name, "a text")


def shown(value: object) -> str:
    """A value as a message quotes it, cut if it is long."""
    return _SHORT.repr(value)
