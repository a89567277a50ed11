"""The position of a file: which file it is, and how many of its rows are taken, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace

from australis.engine.files import Mark
from australis.engine.sources.files.fingerprint import Fingerprint
from australis.errors import EngineError, Problem


@dataclass(frozen=True)
class FilePlace:
    """How far a file is taken: the rows and rejected rows after a mark, and the number of turns.

    >>> place = FilePlace(Fingerprint(100, 100, 7), Mark(12, 2, 88), rows=3)
    >>> read_place(place.text, "a.csv") == place
    True
    """

    file: Fingerprint
    mark: Mark = field(default_factory=Mark)
    rows: int = 0
    rejected: int = 0
    turn: int = 0
    complete: bool = False
    format: str = ""
    """What was said about the format; in another one the rows would be others."""

    @property
    def text(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @property
    def is_beginning(self) -> bool:
        """Whether nothing of the file was taken."""
        return self == FilePlace(self.file, format=self.format)

    def behind(self, mark: Mark, rows: int, rejected: int) -> FilePlace:
        """The position after further rows of the block that begins at a mark."""
        # What counts is where a block begins: one that the end of the file cut short may be longer now.
        if mark.is_block_of(self.mark):
            rows, rejected = self.rows + rows, self.rejected + rejected
        return replace(self, mark=mark, rows=rows, rejected=rejected)

    def delivered(self, complete: bool) -> FilePlace:
        """The position after one more delivery, which may be the last one of the file."""
        return replace(self, turn=self.turn + 1, complete=complete)


def read_place(text: str, path: str) -> FilePlace:
    """The position in a position text."""
    try:
        found = json.loads(text)
        known = Fingerprint(**found.pop("file"))
        return FilePlace(known, Mark(**found.pop("mark")), **found)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise EngineError(Problem(path, f"the position {text!r} is none of a file")) from None
