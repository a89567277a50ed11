"""Metrics for Prometheus: a node answers scrapes with what its statistics tell, and nothing else listens."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from pathlib import Path

import pyarrow as pa
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import SparkSession
from tests.engine.watched import SECOND, delays, forked

from australis import Node
from australis.engine.ledger.counts.drops import Entry
from australis.engine.ledger.counts.recent_counts import GateCount
from australis.engine.observe.marks import InputMarkStatistics
from australis.engine.observe.metrics import Metrics, address, metrics
from australis.engine.observe.quality import OutputQuality, QualityReport
from australis.engine.observe.statistics import (
    BoxStatistics,
    OutputStatistics,
    Statistics,
    SuperboxStatistics,
)
from australis.errors import EngineError
from australis.policy.limit import Losses
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.shedder import Insert

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]

QUALITY = OutputQuality(3, 1.0, 2.0, 3.0, 0.75, 1.5, None, 1.2, 0.8, 0.75, 1.0, 2.0)
UNKNOWN = OutputQuality(0, None, None, None, 1.0, None, None, None, None, None, None, 1.0)
KNOWN = Statistics(
    "forked",
    7,
    {"some": BoxStatistics(100, 60, 3, 0, 1, 0, 2_500_000_000, 4)},
    {
        "out": OutputStatistics(
            3, 1.0, 2.0, 3.0, delays(out={0.001: 1, 0.53: 2, 600.0: 1})["out"], 0.75, 3, 20, 2, 6
        )
    },
    {"some": SuperboxStatistics(("some",), 17, 0, 4, 25.0, 84.0, ("out",), {"s": GateCount(80, 20)})},
    {},
    900,
    1_000,
    QualityReport(10, {"out": QUALITY, "other": UNKNOWN}, 1.2, 2.0, 0.9, Losses(1.8, 0.3, 0.2, 0.1, 0.0)),
    (Entry(1, "some", "s", "", 0.1, 0, 5, 9, 1), Entry(2, "some", "s", 'v < "x"', 0.5, 5, None, 40, 19)),
    {"out": 20},
    waiting=6,
    trash=50,
    marks={
        "s": InputMarkStatistics("at", "1970-01-01T00:00:02Z", 3.5, 5_250_000),
        "silent": InputMarkStatistics("at", None, None, None),
    },
)


def told(found: list[Metric]) -> Samples:
    return {
        (sample.name.removeprefix("australis_"), frozenset(sample.labels.items())): sample.value
        for metric in found
        for sample in metric.samples
    }


def labels(**given: str) -> frozenset[tuple[str, str]]:
    return frozenset(given.items())


def test_all_that_is_known() -> None:
    found = told(list(metrics(KNOWN)))
    out, some, gate = labels(output="out"), labels(box="some"), labels(superbox="some", stream="s")
    dropbox = labels(number="2", superbox="some", stream="s", predicate='v < "x"')
    expected = {
        ("node_info", labels(network="forked")): 1,
        ("box_received_tuples_total", some): 100,
        ("box_emitted_tuples_total", some): 60,
        ("box_late_tuples_total", some): 3,
        ("box_rejected_tuples_total", some): 1,
        ("box_cost_seconds_total", some): 2.5,
        ("superbox_queue_tuples", labels(superbox="some")): 17,
        ("superbox_trains_total", labels(superbox="some")): 4,
        ("superbox_arrived_tuples_total", gate): 80,
        ("superbox_shed_tuples_total", gate): 20,
        ("dropbox_share_ratio", dropbox): 0.5,
        ("dropbox_shed_tuples_total", dropbox): 19,
        ("output_shed_tuples_total", out): 20,
        ("output_late_tuples_total", out): 3,
        ("output_quarantined_tuples_total", out): 2,
        ("waiting_tuples", frozenset()): 6,
        ("output_delivered_ratio", out): 0.75,
        ("output_utility", out): 1.2,
        ("output_weight", out): 2,
        ("output_weight", labels(output="other")): 1,
        ("output_recently_delivered_ratio", out): 0.75,
        ("output_recently_delivered_ratio", labels(output="other")): 1,
        ("output_oldest_waiting_seconds", out): 1.5,
        ("utility", frozenset()): 1.2,
        ("utility_most", frozenset()): 2,
        ("utility_limit", frozenset()): 1.8,
        ("utility_lost", labels(cause="scheduling")): 0.3,
        ("utility_lost", labels(cause="shed_late")): 0.2,
        ("utility_lost", labels(cause="shares")): 0.1,
        ("utility_lost", labels(cause="lateness")): 0.0,
        ("fairness_ratio", frozenset()): 0.9,
        ("disk_bytes", frozenset()): 900,
        ("trash_bytes", frozenset()): 50,
        ("disk_budget_bytes", frozenset()): 1_000,
        ("inputs_held_back", frozenset()): 0,
        ("input_mark_behind_seconds", labels(input="s")): 3.5,
        ("input_quiet_since_seconds", labels(input="s")): 5.25,
    }
    assert {key: value for key, value in found.items() if "delay" not in key[0]} == expected


def test_delays_are_cumulative() -> None:
    found = told(list(metrics(KNOWN)))
    buckets = {float(dict(key[1])["le"]): value for key, value in found.items() if key[0].endswith("_bucket")}
    assert list(buckets) == sorted(buckets)
    assert (buckets[0.001024], buckets[0.524288], buckets[0.741455], buckets[134.218]) == (1, 1, 3, 3)
    assert buckets[float("inf")] == found["output_delay_seconds_count", labels(output="out")] == 4
    assert found["output_delay_seconds_sum", labels(output="out")] == pytest.approx(601, rel=0.05)


def scraped(url: str) -> Samples:
    """What a scrape finds of the node; of its process, it finds the memory at least."""
    with urllib.request.urlopen(url) as answer:
        found = told(list(text_string_to_metric_families(answer.read().decode())))
    assert found["process_resident_memory_bytes", frozenset()] > 1_000_000
    return {key: value for key, value in found.items() if not key[0].startswith("process_")}


def test_a_node_is_scraped(spark: SparkSession, tmp_path: Path) -> None:
    now = 1_000 * SECOND
    with Node(tmp_path / "root", shed=False, metrics=0, disk=1, clock=lambda: now) as node:
        assert node.metrics is not None
        url = node.metrics.url
        assert url.startswith("http://127.0.0.1:")
        assert scraped(url) == {}, "nothing is deployed"
        node.deploy(forked())
        node._deployed.steering.dropboxes.obey([Insert("levels", DropBox.random(0.5))], now)
        table = pa.table({"k": range(1_000), "v": [1.0] * 1_000, "kind": ["alarm"] * 1_000})
        node.push("s", table, now=now - SECOND // 2)
        node.drain()
        found, (entry,) = scraped(url), node.shed()
        assert found["box_received_tuples_total", labels(box="some")] == 1_000
        assert found["output_delay_seconds_count", labels(output="strict")] == 1_000
        assert found["output_delay_seconds_count", labels(output="tolerant")] == 1_000 - entry.shed
        assert found["output_shed_tuples_total", labels(output="tolerant")] == entry.shed
        assert found["output_utility", labels(output="strict")] == 5
        assert found["inputs_held_back", frozenset()] == 1
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url)


def test_a_port_that_is_taken_is_said_before_anything_starts(spark: SparkSession, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(EngineError, match=rf"cannot listen on 127.0.0.1:{port}: Address already in use"):
            Node(tmp_path / "root", metrics=port)
    with Node(tmp_path / "root"):
        pass  # The root was let go.


def test_a_scrape_of_a_node_that_ends_has_only_the_process() -> None:
    def ending() -> Statistics:
        raise EngineError("the catalogue is closed")

    found = Metrics(ending, "localhost:0")
    try:
        assert {name.split("_")[0] for name, _ in scraped(found.url)} <= {"process"}
    finally:
        found.close()


@pytest.mark.parametrize("place", ["", "http", "70000", "-1", "9464:", "localhost:x"])
def test_what_is_no_place(place: str) -> None:
    with pytest.raises(EngineError, match=r"is no place to listen on; expected \[HOST:\]PORT"):
        address(place)
