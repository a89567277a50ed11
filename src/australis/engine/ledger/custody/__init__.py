"""Who owns a root, and what happens to files on it that the catalogue does not know.

In: the owner that a root names, and its catalogue. Out: a new epoch, or an error that says why they do not
belong together. While a node runs, orphans are moved to the trash.
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
from australis.engine.ledger.custody.ownership import Ownership, check_unopened

__all__ = [
    "TRASH_BYTES",
    "Housekeeping",
    "Known",
    "Ownership",
    "check_unopened",
    "disagreement",
    "missing_catalog",
    "missing_identity",
    "missing_journal",
    "place_of",
]
