"""Large tuples in little memory: trains are bounded by bytes, and cut if a worker runs out of memory."""

from __future__ import annotations

import base64
import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.crash.processes import below

from australis import Network, NetworkBuilder, Node
from australis.engine.light import LightRunner
from australis.engine.store import Root
from australis.engine.store.segments import GROUP_BYTES, SEQ, read_metadata, read_segment, write_segment
from australis.engine.train import Train
from australis.engine.worker import OutOfMemory
from australis.errors import EngineError

MEGABYTE = 1 << 20


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> Iterator[LightRunner]:
    # The limit is one of addresses: reserve few that are not used.
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "system")
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    with LightRunner(1) as runner:
        yield runner


def network() -> Network:
    net = NetworkBuilder("net")
    net.input("s", "k long not null, text string not null").map(
        {"k": "k", "text": "upper(text)"}, as_="upper"
    ).output("out")
    return net.build()


def large(keys: range, size: int = MEGABYTE) -> pa.Table:
    """Tuples with a text of a size that cannot be compressed."""
    random = np.random.default_rng(1)
    texts = [base64.b64encode(random.bytes(size * 3 // 4)).decode() for _ in keys]
    return pa.table({"k": pa.array(keys, pa.int64()), "text": texts})


def heard(node: Node) -> list[Train]:
    """The trains that a node commits from now on."""
    trains: list[Train] = []
    assert node._running is not None
    node._running.loop.heard = trains.append
    return trains


def limit_workers(light: LightRunner, more: int) -> None:
    """Let workers of a runner, now and later, have so many more bytes than the process they are forked of."""
    zygote = light._pool._zygote._process.pid
    used = int(Path(f"/proc/{zygote}/statm").read_text().split()[0]) * resource.getpagesize()
    for pid in (zygote, *(each.pid for each in below(zygote))):
        resource.prlimit(pid, resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))


def test_a_train_that_runs_out_of_memory_is_cut(light: LightRunner, tmp_path: Path) -> None:
    with Node(tmp_path, runner=light) as node:
        node.deploy(network())
        node.push("s", large(range(1), 100))
        node.drain()
        limit_workers(light, 200 * MEGABYTE)
        trains = heard(node)
        node.pause()
        for key in range(1, 97, 12):
            node.push("s", large(range(key, key + 12)))
        node.resume()
        node.drain()
        found = node.read("out")
        assert found["k"].to_pylist() == list(range(97))
        assert set(found["text"].slice(1).to_pylist()) == {
            text.upper() for text in large(range(12))["text"].to_pylist()
        }
        assert node.read("quarantine").num_rows == 0
        assert len(trains) > 1
        assert sum(train.received for train in trains) == 96


def test_a_tuple_that_no_worker_has_memory_for_stops_the_node(light: LightRunner, tmp_path: Path) -> None:
    with Node(tmp_path, runner=light) as node:
        node.deploy(network())
        node.push("s", large(range(1), 100))
        node.drain()
        limit_workers(light, 50 * MEGABYTE)
        node.push("s", large(range(1, 2), 60 * MEGABYTE))
        with pytest.raises(OutOfMemory, match=r"a single number needs more memory than a worker has"):
            node.drain()
        limit_workers(light, 1024 * MEGABYTE)
        node.resume()
        node.drain()
        assert node.read("out")["k"].to_pylist() == [0, 1]


def test_a_train_reads_so_many_bytes(light: LightRunner, tmp_path: Path) -> None:
    with Node(tmp_path, runner=light, train_bytes=4 * MEGABYTE) as node:
        node.deploy(network())
        trains = heard(node)
        node.pause()
        node.push("s", large(range(10)))
        for key in range(10, 20):
            node.push("s", large(range(key, key + 1)))
        node.resume()
        node.drain()
        assert node.read("out")["k"].to_pylist() == list(range(20))
        assert max(train.received for train in trains) <= 6
        assert len(trains) < 10


def test_a_part_of_a_segment_of_large_tuples_is_read_alone(tmp_path: Path) -> None:
    root = Root.of(tmp_path)
    root.prepare()
    tuples = large(range(40)).append_column(SEQ, pa.array(range(0, 80, 2), pa.int64()))
    segment = write_segment(root, "arc", tuples, ts=5)
    metadata = read_metadata(root, segment)
    assert metadata.num_row_groups >= 40 * MEGABYTE // GROUP_BYTES
    with (tmp_path / segment.name).open("r+b") as file:
        file.seek(metadata.row_group(1).column(1).data_page_offset + 1_000)
        file.write(b"damage")
    assert read_segment(root, segment, ["k", "text"], 10, 14)["k"].to_pylist() == [5, 6]
    with pytest.raises(EngineError, match="is damaged"):
        read_segment(root, segment, ["k", "text"], 10, 80)
