"""Counts of trains: boxes and ports, delays of outputs, drop boxes, and the last minutes.

In: counts of a train, inside the transaction that commits it. Out: the counts in the catalogue.
"""

from australis.engine.ledger.counts.delays import (
    BUCKETS_PER_OCTAVE,
    bucket,
    histogram,
    middle_us,
    quantile_us,
)
from australis.engine.ledger.counts.drops import (
    Entry,
    count_shed,
    drop_log,
    last_number,
    note_all_withdrawn,
    note_insertion,
    note_withdrawals,
)
from australis.engine.ledger.counts.recent_counts import (
    DiscardCount,
    GateCount,
    Recent,
    all_so_far,
    note_discards,
    note_recent,
    recent,
)
from australis.engine.ledger.counts.totals import (
    box_costs,
    box_counts,
    last_commit_at,
    last_trains,
    port_counts,
    taken_and_shed,
)

__all__ = [
    "BUCKETS_PER_OCTAVE",
    "DiscardCount",
    "Entry",
    "GateCount",
    "Recent",
    "all_so_far",
    "box_costs",
    "box_counts",
    "bucket",
    "count_shed",
    "drop_log",
    "histogram",
    "last_commit_at",
    "last_number",
    "last_trains",
    "middle_us",
    "note_all_withdrawn",
    "note_discards",
    "note_insertion",
    "note_recent",
    "note_withdrawals",
    "port_counts",
    "quantile_us",
    "recent",
    "taken_and_shed",
]
