"""The trash of a root: files that the catalogue does not know are moved there, and deleted a day later.

They keep their names below a folder named after the time they were moved, so they can be moved back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from australis.engine.store.root import Root
from australis.errors import EngineError

TRASH = "trash"
"""The folder."""
GRACE_S = 24 * 3600
"""How long files stay in it."""
_STAMP = "%Y-%m-%dT%H%M%SZ"
_log = logging.getLogger(__name__)


class Trash:
    """Moves files of a root to its trash, and deletes those that were there long enough."""

    def __init__(self, root: Root, now_us: Callable[[], int]) -> None:
        self._root, self._now_us = root, now_us

    def take(self, names: Iterable[str]) -> int:
        """Move files to the trash; returns how many. One that cannot be moved stays where it is for now."""
        folder = f"{TRASH}/{_stamp(self._now_us())}"
        return sum(self._root.each(lambda name: self._move(name, folder), names))

    def _move(self, name: str, folder: str) -> bool:
        try:
            self._root.move(name, f"{folder}/{name}")
        except EngineError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                _log.warning("%s cannot be moved to the trash, and is tried again: %s", name, error)
            return False
        return True

    def names(self) -> list[str]:
        """All files in the trash."""
        return list(self._root.names(TRASH))

    def bytes(self) -> int:
        """The size of the trash."""
        return sum(self._root.sizes(TRASH).values())

    def expire(self) -> int:
        """Delete what was in the trash long enough; returns how many files."""
        return self._delete_before(self._now_us() - GRACE_S * 1_000_000)

    def empty(self) -> int:
        """Delete everything in the trash; returns how many files."""
        return self._delete_before(None)

    def _delete_before(self, limit_us: int | None) -> int:
        by_stamp: dict[str, int] = {}
        for name in self.names():
            stamp = name.split("/")[1]
            by_stamp[stamp] = by_stamp.get(stamp, 0) + 1
        return sum(self._try_delete(each) * n for each, n in by_stamp.items() if _is_before(each, limit_us))

    def _try_delete(self, stamp: str) -> bool:
        try:
            self._root.delete_folder(f"{TRASH}/{stamp}")
        except OSError as error:
            _log.warning("%s/%s cannot be deleted now: %s", TRASH, stamp, error)
            return False
        return True


def _stamp(now_us: int) -> str:
    """A time as the name of a folder.

    >>> _stamp(1_794_972_153_000_000)
    '2026-11-18T032233Z'
    """
    return datetime.fromtimestamp(now_us / 1e6, UTC).strftime(_STAMP)


def _is_before(stamp: str, limit_us: int | None) -> bool:
    """Whether a folder is from before a moment; one with another kind of name only if all are deleted."""
    if limit_us is None:
        return True
    try:
        came = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        # Somebody else has put it there.
        return False
    return came.timestamp() * 1e6 <= limit_us
