"""Ingest: the log that numbers tuples, and back-pressure while the disk budget is used up.

In: tables, data frames and dictionaries. Out: events of the log and segments of input arcs, durable on
return.
"""

from australis.engine.ingest.back_pressure import BackPressure, Busy
from australis.engine.ingest.conversion import Pushed
from australis.engine.ingest.log import Arrival, Ingest, KeyReused, loaded
from australis.engine.ingest.schema_fit import fitting
from australis.engine.ingest.stamps import Position, moment

__all__ = [
    "Arrival",
    "BackPressure",
    "Busy",
    "Ingest",
    "KeyReused",
    "Position",
    "Pushed",
    "fitting",
    "loaded",
    "moment",
]
