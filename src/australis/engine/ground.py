"""The ground: what all parts of a running network stand on, each of them on the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from australis.compile.superboxes import Plan
from australis.engine.graveyard import Graveyard
from australis.engine.queues import Queues
from australis.engine.storage.catalog import Catalog
from australis.engine.storage.root import Root


@dataclass(frozen=True)
class Ground:
    """Where things are kept, what is known of them, and the lock under which they change."""

    root: Root
    catalog: Catalog
    graveyard: Graveyard
    plan: Plan
    queues: Queues
    changed: threading.Condition
    """The node's lock, and what wakes whoever waits."""
    clock: Callable[[], int]
