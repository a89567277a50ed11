"""Guards: check that an argument is of the kind that a field takes, and refuse it by the field's name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from reprlib import Repr
from types import TracebackType
from typing import Self

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


class Gathering:
    """Steps that may each fail; all their problems are raised together at the end.

    >>> with Gathering() as found:
    ...     for name in ("a", "b"):
    ...         with found.at(name):
    ...             guard(7, str, "", "a text")
    Traceback (most recent call last):
    australis.errors.AlgebraError: a: is 7; expected a text
    b: is 7; expected a text
    """

    def __init__(self) -> None:
        self._errors: list[AlgebraError] = []

    @contextmanager
    def at(self, path: str = "") -> Iterator[None]:
        """Run a step; its problems get `path` as a prefix, and the next step still runs."""
        try:
            yield
        except AlgebraError as error:
            self._errors.append(error.under(path) if path else error)

    @property
    def problems(self) -> list[Problem]:
        """The problems so far."""
        return [problem for error in self._errors for problem in error.problems]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, AlgebraError):
            self._errors.append(error)
        elif error is not None:
            return
        if self._errors:
            raise self._merged() from None

    def _merged(self) -> AlgebraError:
        """One error for all problems, of their common class."""
        kinds = {type(error) for error in self._errors}
        made = kinds.pop() if len(kinds) == 1 else AlgebraError
        return made(self.problems)
