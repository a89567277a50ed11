"""Pieces: groups of segments of an arc that belong together because several tasks wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from australis.engine.store import Segment


@dataclass(frozen=True)
class Piece:
    """Segments whose numbers overlap: an arc can be cut between pieces."""

    segments: tuple[Segment, ...]
    end: int

    @property
    def rows(self) -> int:
        return sum(segment.rows for segment in self.segments)

    @property
    def bytes(self) -> int:
        return sum(segment.bytes for segment in self.segments)

    @property
    def newest(self) -> int:
        return max(segment.newest for segment in self.segments)


def pieces(segments: Iterable[Segment]) -> Iterator[Piece]:
    """The segments of an arc in pieces, by number."""
    found: list[Segment] = []
    end = 0
    for segment in sorted(segments, key=lambda each: each.base):
        if found and segment.base >= end:
            yield Piece(tuple(found), end)
            found = []
        found.append(segment)
        end = max(end, segment.end)
    if found:
        yield Piece(tuple(found), end)
