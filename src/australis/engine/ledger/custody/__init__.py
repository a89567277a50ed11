"""Who has a root, and what becomes of files on it that the catalogue does not know.

The owner that a root names and its catalogue come in; a new epoch goes out, or an error that says why they do
not belong together. While a node runs, orphans go to the trash.
"""

from australis.engine.ledger.custody.agreement import (
    Known,
    disagreement,
    missing_catalog,
    missing_identity,
    missing_journal,
    place_of,
)
from australis.engine.ledger.custody.housekeeping import TRASH_BYTES, Housekeeping
from australis.engine.ledger.custody.ownership import Ownership, RootTaken, check_unopened

__all__ = [
    "TRASH_BYTES",
    "Housekeeping",
    "Known",
    "Ownership",
    "RootTaken",
    "check_unopened",
    "disagreement",
    "missing_catalog",
    "missing_identity",
    "missing_journal",
    "place_of",
]
