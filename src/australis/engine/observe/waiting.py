"""How many tuples wait, each counted once, however many superboxes it waits for."""

from __future__ import annotations

from collections.abc import Iterable

from australis.engine.ledger import Queues, rows_between


def waiting_once(queues: Queues, superboxes: Iterable[str]) -> int:
    """How many tuples wait for some superboxes.

    A tuple that several of them read is counted for the one furthest back. Derived tuples have the number of
    their origin, so the count never exceeds the numbers that these superboxes have not reached.
    """
    ahead: dict[str, tuple[int, int]] = {}
    for name in superboxes:
        # A view that nobody wants computed waits for nothing.
        if queues.plan.views.get(name) == 0:
            continue
        begin, end = queues.positions[name], queues.end(queues.plan.superboxes[name])
        for arc in queues.plan.superboxes[name].streams.values():
            known = ahead.get(arc, (begin, end))
            ahead[arc] = (min(begin, known[0]), max(end, known[1]))
    rows = sum(_rows(queues, arc, *between) for arc, between in ahead.items())
    first = min((begin for begin, _ in ahead.values()), default=queues.log_end)
    return min(rows, queues.log_end - first)


def _rows(queues: Queues, arc: str, begin: int, end: int) -> int:
    found = (each for each in queues.segments[arc] if each.end > begin and each.base < end)
    return sum(rows_between(each, begin, end) for each in found)
