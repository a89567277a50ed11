"""Copies of the catalogue in the root: every commit, in order, and a snapshot now and then.

In: the statements of units of work. Out: objects in the root, from which a catalogue is brought up to date
when its disk is lost; and an error if another node has the root.
"""

from australis.engine.ledger.copies.copied_catalog import CopiedCatalog
from australis.engine.ledger.copies.copies import COPIES, Copies, NotNewest, RootTaken
from australis.engine.ledger.copies.records import Recorder
from australis.engine.ledger.copies.replay import has_copies, restore, restored_catalog

__all__ = [
    "COPIES",
    "CopiedCatalog",
    "Copies",
    "NotNewest",
    "Recorder",
    "RootTaken",
    "has_copies",
    "restore",
    "restored_catalog",
]
