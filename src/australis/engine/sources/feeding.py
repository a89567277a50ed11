"""Feeds deliveries of sources into a node: in turns if none of them waits, else each in its own thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence

from australis.engine.sources.delivery import Delivery, Inlet, RunningSource, Source, hand_over
from australis.engine.sources.waiting import SignalWaiter, Waiter

_log = logging.getLogger(__name__)
Heard = Callable[[Delivery], None]
"""Called with each delivery once it is committed."""


def feed(
    node: Inlet, sources: Sequence[Source], waiter: SignalWaiter, heard: Heard = lambda delivery: None
) -> tuple[str, ...]:
    """Commit what the sources deliver until all have ended or the waiter is ended; returns their notes."""
    running = [source.start(node.position, waiter) for source in sources]
    if all(source.at_rest for source in sources):
        for delivery in in_turns(running, waiter):
            hand_over(node, delivery)
            heard(delivery)
    else:
        _at_once(node, running, waiter, heard)
    return tuple(note for one in running for note in one.notes)


def bring(node: Inlet, running: RunningSource, waiter: Waiter, heard: Heard) -> None:
    """Commit what one source delivers until it ends or the waiter is ended."""
    for delivery in running.deliveries():
        hand_over(node, delivery)
        heard(delivery)
        if waiter.is_ended:
            return


def in_turns(running: Sequence[RunningSource], waiter: Waiter) -> Iterator[Delivery]:
    """The deliveries of sources that never wait, one of each in turn.

    Turns are counted over all runs, so a resumed run keeps the order of one that was never interrupted.
    """
    waiting = {number: one.deliveries() for number, one in enumerate(running)}
    while waiting and not waiter.is_ended:
        number = min(waiting, key=lambda number: (running[number].turn, number))
        delivery = next(waiting[number], None)
        if delivery is None:
            del waiting[number]
        else:
            yield delivery


def _at_once(node: Inlet, running: Sequence[RunningSource], waiter: SignalWaiter, heard: Heard) -> None:
    """Run each source in a thread; the first error ends all."""
    errors: list[BaseException] = []

    def bring_it(one: RunningSource) -> None:
        try:
            bring(node, one, waiter, heard)
        except BaseException as error:
            # The first error is raised; those that follow from it are only recorded here.
            _log.debug("a source ended: %s", error)
            errors.append(error)
            waiter.end()

    threads = [threading.Thread(target=bring_it, args=(one,), name="source", daemon=True) for one in running]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        # Ctrl-C: what is being committed is committed, and nothing more.
        waiter.end()
        for thread in threads:
            thread.join()
        raise
    if errors:
        raise errors[0]
