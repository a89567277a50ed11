"""The questions of one node that are not answered yet."""

from __future__ import annotations

import msgspec

from australis.cluster.catalogue import Kind


class Question(msgspec.Struct):
    """Who has a name?"""

    name: str
    rest: list[str]
    """The keepers that were not asked yet."""
    waiting: int = 0
    """How many were asked and have not answered."""

    def next(self, most: int) -> list[str]:
        """The keepers that are asked now."""
        found, self.rest = self.rest[:most], self.rest[most:]
        self.waiting += len(found)
        return found


class Search(msgspec.Struct):
    """Which names match?"""

    waiting: set[str]
    """The nodes that have not answered."""
    names: set[tuple[str, str, Kind]]
