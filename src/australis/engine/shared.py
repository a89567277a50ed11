"""The ground: what all parts of a running network stand on, each of them on the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from australis.engine.ledger.catalog import Catalog
from australis.engine.ledger.garbage import Graveyard
from australis.engine.ledger.queues import Queues
from australis.engine.store.root import Root
from australis.engine.tables.table_states import Tables
from australis.plan.superboxes import Plan


@dataclass(frozen=True)
class Ground:
    """Where things are kept, what is known of them, and the lock under which they change."""

    root: Root
    catalog: Catalog
    graveyard: Graveyard
    queues: Queues
    changed: threading.Condition
    """The node's lock, and what wakes whoever waits."""
    clock: Callable[[], int]
    tables: Tables = field(default_factory=Tables)
    """What is known of stored tables."""

    @property
    def plan(self) -> Plan:
        """The plan that runs; a change puts another one in its place."""
        return self.queues.plan
