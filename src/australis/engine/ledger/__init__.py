"""What is committed: the catalogue of a root, its mirror in memory, and files that nothing refers to.

Segments, states, heads and statistics come in and become visible whole or not at all.
"""

from australis.engine.ledger.catalog import DISK, NETWORK, OPTIMISER, Catalog
from australis.engine.ledger.counts import (
    BUCKETS_PER_OCTAVE,
    Entry,
    Mouthful,
    Recent,
    all_so_far,
    box_costs,
    box_counts,
    bucket,
    count_shed,
    drop_log,
    histogram,
    last_commit_at,
    last_number,
    last_trains,
    middle_us,
    note_all_withdrawn,
    note_insertion,
    note_recent,
    note_withdrawals,
    port_counts,
    quantile_us,
    recent,
    taken_and_shed,
)
from australis.engine.ledger.entries import FLUSH, LOAD, PUSH, TICK, Event, Head, StateFile
from australis.engine.ledger.garbage import Garbage
from australis.engine.ledger.ledger import Change, Ledger
from australis.engine.ledger.open_root import OpenRoot
from australis.engine.ledger.queues import ALL, Queues, Rows, load_queues, loads_of, rows_between
from australis.engine.ledger.record import Record
from australis.engine.ledger.retention import (
    arcs_with_history,
    history_from,
    log_needed_from,
    query_begins_at,
    unneeded,
    waits_for,
)
from australis.engine.ledger.transaction import Transaction
from australis.engine.ledger.view import known_catalog, known_record, plan_in, view_of

__all__ = [
    "ALL",
    "BUCKETS_PER_OCTAVE",
    "DISK",
    "FLUSH",
    "LOAD",
    "NETWORK",
    "OPTIMISER",
    "PUSH",
    "TICK",
    "Catalog",
    "Change",
    "Entry",
    "Event",
    "Garbage",
    "Head",
    "Ledger",
    "Mouthful",
    "OpenRoot",
    "Queues",
    "Recent",
    "Record",
    "Rows",
    "StateFile",
    "Transaction",
    "all_so_far",
    "arcs_with_history",
    "box_costs",
    "box_counts",
    "bucket",
    "count_shed",
    "drop_log",
    "histogram",
    "history_from",
    "known_catalog",
    "known_record",
    "last_commit_at",
    "last_number",
    "last_trains",
    "load_queues",
    "loads_of",
    "log_needed_from",
    "middle_us",
    "note_all_withdrawn",
    "note_insertion",
    "note_recent",
    "note_withdrawals",
    "plan_in",
    "port_counts",
    "quantile_us",
    "query_begins_at",
    "recent",
    "rows_between",
    "taken_and_shed",
    "unneeded",
    "view_of",
    "waits_for",
]
