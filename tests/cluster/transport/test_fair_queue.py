"""What is sent first: control, then streams by their weights."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from australis.cluster.transport import FairQueue
from australis.cluster.wire import CONTROL, FRAME_BYTES, HEAD, Beat, encoded
from australis.engine.threads import SYSTEM

BODY = bytes(10 * FRAME_BYTES)


def queue_of(weights: dict[int, float], messages: int) -> FairQueue:
    queue = FairQueue(SYSTEM)
    for stream, weight in weights.items():
        queue.weigh(stream, weight)
        for _ in range(messages):
            queue.put(stream, encoded(Beat(0), BODY))
    return queue


def taken(queue: FairQueue) -> tuple[int, int, int]:
    """The stream, the flag and the size of the next frame."""
    frame = queue.take()
    assert frame is not None
    stream, flag, size = HEAD.unpack(frame[0])
    assert size == len(frame[1])
    return stream, flag, size


def test_streams_share_by_weight() -> None:
    weights = {stream: float(stream) for stream in range(1, 11)}
    queue, sent = queue_of(weights, 200), Counter[int]()
    while sum(sent.values()) < 200 * FRAME_BYTES * 5:
        stream, _, size = taken(queue)
        sent[stream] += size
    whole = sum(sent.values())
    for stream, weight in weights.items():
        assert sent[stream] / whole == pytest.approx(weight / 55, rel=0.05)


def test_control_comes_first() -> None:
    queue = queue_of({1: 1000.0}, 3)
    taken(queue)
    queue.put(CONTROL, encoded(Beat(1)))
    assert taken(queue)[0] == CONTROL


def test_one_that_was_idle_does_not_catch_up() -> None:
    queue = queue_of({1: 1.0, 2: 1.0}, 0)
    for _ in range(20):
        queue.put(1, encoded(Beat(0), BODY))
    for _ in range(100):
        assert taken(queue)[0] == 1
    for _ in range(20):
        queue.put(2, encoded(Beat(0), BODY))
    assert Counter(taken(queue)[0] for _ in range(20)) == {1: 10, 2: 10}


def test_what_is_dropped_ends_with_a_whole_message() -> None:
    queue = queue_of({1: 1.0}, 5)
    flags = [taken(queue)[1]]
    queue.drop(1)
    queue.put(CONTROL, encoded(Beat(9)))
    assert taken(queue)[0] == CONTROL
    while flags[-1] == 0:
        flags.append(taken(queue)[1])
    assert flags == [0] * 10 + [1], "the rest of the message that was begun, and nothing of the next one"
    queue.put(CONTROL, encoded(Beat(9)))
    assert taken(queue)[0] == CONTROL


def test_who_waits_is_told_of_a_frame_and_of_the_end() -> None:
    queue, found = FairQueue(SYSTEM), []

    def take_all() -> None:
        while (frame := queue.take()) is not None:
            found.append(HEAD.unpack(frame[0])[0])
        found.append(-1)

    thread = threading.Thread(target=take_all)
    thread.start()
    queue.put(3, encoded(Beat(0)))
    while not found:
        pass
    queue.close()
    thread.join(10)
    assert found == [3, -1]
    queue.put(3, encoded(Beat(0)))
    assert queue.take() is None
