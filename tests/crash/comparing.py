"""What a killed run wrote against what an undisturbed one wrote."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.crash.child import HISTORY, KEPT, READ, SINKS

FILES = (*SINKS.values(), *(f"{output}.read" for output in READ), f"{KEPT}.kept", HISTORY)


@dataclass(frozen=True)
class Difference:
    """Tuples that are missing, there too often, or not those of the undisturbed run."""

    lost: int = 0
    duplicated: int = 0
    wrong: int = 0

    def __add__(self, other: Difference) -> Difference:
        return Difference(
            self.lost + other.lost, self.duplicated + other.duplicated, self.wrong + other.wrong
        )

    def __bool__(self) -> bool:
        return bool(self.lost or self.duplicated or self.wrong)


def text(path: Path) -> bytes:
    """The content of a file; a packed one is cut into members wherever a table ended."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def difference(expected: bytes, found: bytes, *, is_ordered: bool = True) -> Difference:
    """Compare line by line; texts that differ in nothing but the order of lines are wrong, too, if it counts.

    >>> difference(b"1\\n2\\n2\\n", b"1\\n1\\n2\\n3\\n")
    Difference(lost=1, duplicated=1, wrong=1)
    """
    wanted, given = Counter(expected.splitlines()), Counter(found.splitlines())
    lost, more = wanted - given, given - wanted
    known = sum(count for line, count in more.items() if line in wanted)
    told = Difference(lost.total(), known, more.total() - known)
    return told or Difference(wrong=int(is_ordered and expected != found))


def compare(expected: Path, found: Path, *, is_ordered: bool = True) -> dict[str, Difference]:
    """The differences of all outputs, by file."""
    return {
        name: difference(text(expected / name), text(found / name), is_ordered=is_ordered) for name in FILES
    }
