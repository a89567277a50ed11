"""Ownership of a root: taken when it is opened, marked periodically, released when it is closed."""

from __future__ import annotations

import logging
from dataclasses import replace

from australis.engine.crash_points import crash_point
from australis.engine.ledger.copies import NotNewest, RootTaken
from australis.engine.ledger.custody.agreement import (
    CATALOG_ID,
    EPOCH,
    ROOT,
    Known,
    disagreement,
    missing_catalog,
    missing_identity,
    missing_journal,
    place_of,
)
from australis.engine.ledger.ledger import Ledger
from australis.engine.store import CLOSED, IDENTITY, Home, Owner, Root, read_owner, this_process, write_owner
from australis.errors import EngineError, Problem

_TRIES = 100
"""How often a node tries to take a root whose last node commits again and again."""
_log = logging.getLogger(__name__)


def check_unopened(root: Root, home: Home) -> Owner | None:
    """Refuse a catalogue that lacks what the root's owner had, before anything is created or changed."""
    owner = read_owner(root)
    if owner is not None and not home.has_catalog():
        raise EngineError(missing_catalog(root.uri, place_of(home), owner))
    if owner is not None and owner.is_open and home.lacks_journal(owner.epoch):
        raise EngineError(missing_journal(place_of(home), owner))
    return owner


class Ownership:
    """A root that this process owns, for one epoch."""

    def __init__(self, ledger: Ledger, home: Home, owner: Owner | None) -> None:
        self._ledger, self._root = ledger, ledger.root
        known = Known.of(ledger.catalog, place_of(home))
        if known.root is not None and self._root.known_identity() is None:
            # Not made anew: nobody could tell then which one it was.
            raise EngineError(missing_identity(self._root.uri_of(IDENTITY), known.root))
        identity = self._root.identity()
        wrong = disagreement(self._root.uri, identity, owner, known)
        if wrong is not None:
            raise EngineError(wrong)
        if known.root is None:
            self._root.keep_identity()
        if owner is None and known.epoch:
            _log.warning("%s has lost its owner.json, which is written again", self._root.uri)
        epoch = (known.epoch if owner is None else owner.epoch) + 1
        catalog = known.catalog or self._root.disk.token()
        self._owner = Owner(identity, catalog, known.place, epoch, 0, True, this_process())
        self._take(is_first=owner is None)

    def _take(self, *, is_first: bool) -> None:
        """Begin an epoch: in the catalogue first, then in the root."""
        for last in (*[False] * _TRIES, True):
            try:
                self._begin_epoch()
                break
            except NotNewest:
                # The node that has the root is still at work: from the next commit on, it is not.
                if last:
                    raise
                self._ledger.catch_up()
        crash_point("root.epoch")
        self._write(is_first=is_first)
        crash_point("root.owned")

    def _begin_epoch(self) -> None:
        with self._ledger.change() as change:
            for key, value in ((ROOT, self._owner.root), (CATALOG_ID, self._owner.catalog)):
                change.set_meta(key, value)
            change.set_meta(EPOCH, str(self._owner.epoch))

    def mark(self) -> None:
        """Record in the root how far its catalogue has come; raises RootTaken if another node has it."""
        if self._ledger.commits != self._owner.commits:
            self.check()
            self._write()

    def check(self) -> None:
        """Raise RootTaken if another node has opened the root."""
        found = read_owner(self._root)
        if found is None:
            # Whoever takes a root leaves an owner file; this one was deleted.
            self._write(is_first=True)
        elif (found.catalog, found.epoch) != (self._owner.catalog, self._owner.epoch):
            what = f"was taken over by {found.process}, with the catalogue {found.place}"
            raise RootTaken(Problem(self._root.uri, what, "one node on a root; stop one of the two"))

    def release(self) -> None:
        """End the epoch: first in the catalogue, then in the root, with how far the catalogue has come."""
        try:
            self.check()
            with self._ledger.change() as change:
                change.set_meta(CLOSED, str(self._owner.epoch))
            self._owner = replace(self._owner, is_open=False)
            self._write()
            crash_point("root.released")
        except (EngineError, OSError) as error:
            _log.warning("%s cannot be marked as closed: %s", self._root.uri, error)

    def _write(self, *, is_first: bool = False) -> None:
        self._owner = replace(self._owner, commits=self._ledger.commits)
        # Where commits are copied, whoever has made the last one has the root.
        write_owner(self._root, self._owner, is_first=is_first and not self._root.disk.keeps_catalog)
