"""Lookups of superboxes: what the boxes that read a connection point can pass, by its storage key.

The paper switches a Filter or a Join after a connection point to an indexed lookup (Aurora 3.2). Here the
boxes stay as they are, and read only the row groups that may contain what they pass.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

from australis.algebra.network import Ref
from australis.engine.history.allowed_values import as_lookup
from australis.engine.history.organisation import keepings
from australis.engine.history.passing_values import let_through
from australis.engine.ledger import Queues, Rows, rows_between
from australis.engine.store import Cache, Lookup, Root, Segment, Zone, read_metadata, zones_of
from australis.errors import EngineError
from australis.plan.superboxes import Plan, Superbox

_log = logging.getLogger(__name__)
ZONES_BUDGET, ZONE_BYTES = 64 << 20, 300
"""The size of the cache of footers, and about how much of it a row group takes."""


@dataclass
class _Known:
    """The lookups of a superbox by stream, and how many tuples they read of each run."""

    lookups: dict[str, Lookup]
    rows: dict[str, int] = field(default_factory=dict)


class Lookups:
    """Knows the lookups of superboxes, and how many tuples each would read. Footers are read once."""

    def __init__(self, root: Root, plan: Plan) -> None:
        self._root = root
        kept = keepings(plan)
        weights = plan.network.weights
        # A gate may change a weight, and what is looked up by it.
        self._keys = {
            arc: keeping.key
            for arc, keeping in kept.items()
            if keeping.key is not None and keeping.key != weights.get(Ref.parse(arc))
        }
        self._zones: Cache[tuple[Zone, ...]] = Cache(ZONES_BUDGET)
        self._made: dict[tuple[str, ...], _Known] = {}
        self.readers = frozenset(reader for arc in self._keys for reader in plan.arcs[arc].readers)
        """The superboxes that may look something up: they read a connection point with a key."""

    def of(self, queues: Queues, superbox: Superbox) -> dict[str, Lookup]:
        """The lookups by which a superbox may read its streams."""
        return self._known(queues, superbox).lookups

    def rows(self, queues: Queues, superbox: Superbox) -> Rows:
        """How many tuples of a segment a train of a superbox would read."""
        known = self._known(queues, superbox)
        by_arc = {superbox.streams[name]: lookup for name, lookup in known.lookups.items()}

        def read(segment: Segment, lo: int, hi: int) -> int:
            lookup = by_arc.get(segment.arc)
            if lookup is None or lookup.attribute != segment.key:
                return rows_between(segment, lo, hi)
            if segment.name not in known.rows:
                known.rows[segment.name] = self._rows(segment, lookup)
            return min(known.rows[segment.name], rows_between(segment, lo, hi))

        return read

    def _known(self, queues: Queues, superbox: Superbox) -> _Known:
        if not any(segment.key for segment in self._ahead(queues, superbox)):
            return _Known({})
        tables = (each.name for arc in superbox.tables.values() for each in queues.segments[arc])
        made = (superbox.id, *tables)
        if made not in self._made:
            self._made[made] = _Known(dict(self._lookups(queues, superbox)))
        return self._made[made]

    def _ahead(self, queues: Queues, superbox: Superbox) -> Iterator[Segment]:
        """The segments of connection points with a key that a superbox has not fully read."""
        begin = queues.position(superbox)
        for arc in superbox.streams.values():
            if arc in self._keys:
                yield from (each for each in queues.segments[arc] if each.end > begin)

    def _lookups(self, queues: Queues, superbox: Superbox) -> Iterator[tuple[str, Lookup]]:
        tables = {name: queues.segments[arc] for name, arc in superbox.tables.items()}
        for stream, arc in superbox.streams.items():
            if arc in self._keys:
                attribute = superbox.network.inputs[stream].schema[self._keys[arc]]
                allowed = let_through(self._root, superbox, stream, attribute, tables)
                lookup = as_lookup(allowed, attribute)
                if lookup is not None:
                    yield stream, lookup

    def _rows(self, segment: Segment, lookup: Lookup) -> int:
        try:
            return lookup.rows(self._zones_of(segment, lookup))
        except EngineError as error:
            _log.debug("%s cannot be looked up: %s", segment.name, error)
            # If it cannot be read, the train that needs it will report that.
            return segment.rows

    def _zones_of(self, segment: Segment, lookup: Lookup) -> tuple[Zone, ...]:
        return self._zones.get(
            segment.name,
            lambda: zones_of(read_metadata(self._root, segment), lookup.attribute, lookup.type),
            lambda found: len(found) * ZONE_BYTES,
        )
