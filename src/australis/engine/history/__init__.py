"""History: what connection points keep (Aurora 2.1 and 4.2), organised so that it can be looked up.

In come the segments of a connection point's arc that everyone has passed; out go runs, Parquet files sorted
by the storage key, for trains, programs and whatever reads Parquet. `read_history` reads those of a root,
`runs_of` names them.
"""

from australis.engine.history.reading import read_history, runs_of

__all__ = ["read_history", "runs_of"]
