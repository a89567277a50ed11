"""The ground: what all parts of a running network stand on, each of them on the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from australis.compile.superboxes import Plan
from australis.engine.graveyard import Graveyard
from australis.engine.queues import Queues
from australis.engine.storage.catalog import Catalog
from australis.engine.storage.root import Root
from australis.engine.tables.states import Tables


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
