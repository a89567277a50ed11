"""A topic through a node that runs as a service into another, while the broker goes away and comes back."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kafka.broker import Broker
from tests.kafka.messages import produce, read_all

from australis import NetworkBuilder, Node
from australis.service.feeds import Feeds
from australis.service.settings import FeedSettings


def eventually(is_so: Callable[[], bool]) -> None:
    tick = threading.Event()
    while not is_so():
        tick.wait(0.2)


@pytest.mark.timeout(900)
def test_topics_are_fed_while_the_broker_comes_and_goes(broker: Broker, tmp_path: Path) -> None:
    for topic in ("fed-in", "fed-out"):
        broker.create(topic)
    net = NetworkBuilder("feeding")
    net.input("readings", "n int not null").filter("n >= 0").output("high")
    given = {"readings": f"kafka:fed-in?servers={broker.servers}"}
    taken = {"high": f"kafka:fed-out?servers={broker.servers}"}
    with Node(tmp_path / "root", runner="light[1]") as node:
        node.deploy(net.build())
        feeds = Feeds(FeedSettings(inputs=given, outputs=taken))
        try:
            feeds.arrange(node, node.recorded())
            produce(broker, "fed-in", ({"value": b'{"n": %d}' % n} for n in range(100)))
            eventually(lambda: len(read_all(broker, "fed-out")) == 100)
            broker.kill()
            broker.start()
            produce(broker, "fed-in", ({"value": b'{"n": %d}' % n} for n in range(100, 200)))
            eventually(lambda: len(read_all(broker, "fed-out")) >= 200)
        finally:
            feeds.close(30.0)
    found = [json.loads(each.value() or b"")["n"] for each in read_all(broker, "fed-out")]
    assert found == list(range(200))
