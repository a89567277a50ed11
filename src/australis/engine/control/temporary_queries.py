"""Queries that end with their clients: they are recorded, since a killed node cannot detach them."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from australis.engine.store import unwritable

FILE = "guests.json"
_log = logging.getLogger(__name__)


class Guests:
    """The names of such queries, in a file beside the catalogue."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        self.names: set[str] = set()
        try:
            self.names.update(map(str, json.loads(self._path.read_text())))
        except FileNotFoundError:
            # There are none.
            pass
        except (OSError, ValueError) as error:
            _log.warning("%s cannot be read; queries that it names can be detached: %s", self._path, error)

    def add(self, name: str) -> None:
        """Note a query, before it is attached."""
        self.names.add(name)
        self._write()

    def remove(self, name: str) -> None:
        """Strike a query out, once it is detached."""
        self.names.discard(name)
        self._write()

    def _write(self) -> None:
        part = self._path.with_name(f".{FILE}.part")
        try:
            if self.names:
                part.write_text(json.dumps(sorted(self.names)))
                os.replace(part, self._path)
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(str(self._path), error) from error
