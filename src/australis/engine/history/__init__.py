"""History: what connection points keep (Aurora 2.1 and 4.2), organised so that it can be looked up.

In: the segments of a connection point's arc that every reader has passed. Out: runs, Parquet files sorted by
the storage key, for trains, programs and anything that reads Parquet. `read_history` reads those of a root,
`runs_of` lists them.
"""

from australis.engine.history.gathering import Gathering
from australis.engine.history.lookups import Lookups
from australis.engine.history.organisation import RUN_ROWS_MOST
from australis.engine.history.questions import Instant, instant_us, question
from australis.engine.history.reading import read_history, recall, runs_of

__all__ = [
    "RUN_ROWS_MOST",
    "Gathering",
    "Instant",
    "Lookups",
    "instant_us",
    "question",
    "read_history",
    "recall",
    "runs_of",
]
