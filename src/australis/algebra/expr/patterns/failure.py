"""The reason why a constant text of a call is refused."""

from __future__ import annotations


class PatternError(Exception):
    """A pattern, replacement or path that is not in the subset: what was found, and what to write."""

    def __init__(self, what: str, expected: str) -> None:
        super().__init__(what)
        self.what, self.expected = what, expected
