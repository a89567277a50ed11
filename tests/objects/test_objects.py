"""A root in a real object store: from start to crash to restart, and what is said when it cannot be used."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.app.files import australis
from tests.engine.ledger.copies.places import counted, counting, kill, push
from tests.objects.server import S3Server

from australis import NetworkBuilder, Node
from australis.engine.ledger import RootTaken
from australis.engine.observe import verify
from australis.engine.store import Root
from australis.engine.store.disk import disk_at
from australis.engine.store.objects import addresses
from australis.errors import EngineError

RUNNERS = ("light", "spark")


@pytest.fixture
def uri(server: S3Server, request: pytest.FixtureRequest) -> str:
    """A root that no other test has."""
    return server.uri(f"roots/{request.node.name}")


def opened(uri: str, catalog: Path, runner: str = "light") -> Node:
    node = Node(uri, catalog=catalog, runner=runner)
    node.deploy(node.recorded() or counting())
    return node


# --- start, crash, restart


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_root_continues_on_another_machine(uri: str, tmp_path: Path, runner: str) -> None:
    node = opened(uri, tmp_path / "here", runner)
    for number in range(5):
        push(node, number)
    assert counted(node) == [0, 2, 4, 6]
    kill(node)
    again = opened(uri, tmp_path / "there", runner)
    assert again.position("feed") == "5"
    push(again, 5)
    assert counted(again) == [0, 2, 4, 6, 8]
    again.stop()
    found = verify(uri)
    assert (found.findings, found.is_closed) == ((), True)
    assert found.commits > 10


def test_a_replaced_node_stops_and_names_the_other(uri: str, tmp_path: Path) -> None:
    old = opened(uri, tmp_path / "here")
    push(old, 0)
    old.drain()
    new = opened(uri, tmp_path / "there")
    with pytest.raises(RootTaken, match=r"was taken over by process \d+ on .*there"):
        push(old, 1)
    old.stop(now=True)
    push(new, 1)
    assert counted(new) == [0]
    new.stop()


def test_an_outage_of_the_store_loses_nothing(
    server: S3Server, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "RETRIES_FOR", timedelta(seconds=0.2))
    with opened(uri, tmp_path) as node:
        push(node, 0)
        node.drain()
        server.stop()
        with pytest.raises(EngineError, match="cannot be written"):
            push(node, 1)
        server.start()
        node.resume()
        push(node, 1)
        push(node, 2)
        assert counted(node) == [0, 2]


def test_a_parquet_object_is_adopted(server: S3Server, uri: str, tmp_path: Path) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"k": [1] * 6, "t": list(range(6))}), sink)
    disk_at(server.uri("files")).create("some tuples.parquet", sink.getvalue())
    with opened(uri, tmp_path) as node:
        node.adopt("s", server.uri("files/some%20tuples.parquet"))
        assert counted(node) == [0, 2]


# --- the store


def test_of_many_that_create_an_object_one_does(uri: str) -> None:
    disk = disk_at(uri)

    def claim(number: int) -> list[str]:
        won = []
        for name in (f"claims/{each}" for each in range(100)):
            try:
                disk.create_once(name, str(number).encode())
                won.append(name)
            except FileExistsError:
                continue
        return won

    with ThreadPoolExecutor(8) as pool:
        won = [name for names in pool.map(claim, range(8)) for name in names]
    assert sorted(won) == sorted(disk.names("claims"))
    assert len(won) == 100


def test_objects_are_deleted_a_thousand_at_a_time(server: S3Server, uri: str) -> None:
    root = Root(uri)
    names = [f"segments/{number}" for number in range(1_200)]
    root.each(lambda name: root.write(name, b"x"), names)
    before = server.requests()
    assert root.delete_all(names) == {}
    after = server.requests()
    assert after["POST"] - before["POST"] == 2
    assert after["DELETE"] == before["DELETE"]
    assert list(root.names("segments")) == []


def test_an_object_is_written_and_read_by_one_request(server: S3Server, uri: str) -> None:
    root = Root(uri)
    before = server.requests()
    root.write("states/x", b"content")
    assert root.fetch("states/x") == b"content"
    after = server.requests()
    assert {name: after[name] - before[name] for name in after if after[name] != before[name]} == {
        "PUT": 1,
        "GET": 1,
    }


def test_a_large_object_is_read_in_parts(uri: str) -> None:
    root, data = Root(uri), bytes(range(256)) * (80 << 10)
    root.write("segments/large", data)
    with root.open("segments/large") as file:
        assert file.size() == len(data)
        file.seek(9_000_000)
        assert file.read(1000) == data[9_000_000:9_001_000]
    assert root.fetch("segments/large") == data


# --- read from elsewhere


def test_a_root_is_read_on_a_machine_without_its_catalogue(uri: str, tmp_path: Path) -> None:
    net = NetworkBuilder("readings")
    net.input("s", "x long").point("point", history="1 hour")
    with Node(uri, catalog=tmp_path / "here", runner="light") as node:
        node.deploy(net.build())
        node.push("s", [{"x": 1}, {"x": 2}])
        node.drain()
        stats = australis("stats", "--root", uri, "--json")
        assert json.loads(stats.stdout)["inputs"]["s"]["received"] == 2
        history = australis("history", "point", "--root", uri)
        assert [json.loads(line)["x"] for line in history.stdout.splitlines()] == [1, 2]
        query = australis("query", "point", "x > 1", "--root", uri)
        assert json.loads(query.stdout)["x"] == 2
        assert "no node answers" in query.stderr
    assert not list(Path(tempfile.gettempdir()).glob("australis-catalog-*"))


def test_a_root_is_watched_on_a_machine_without_its_catalogue(uri: str, tmp_path: Path) -> None:
    watch = [sys.executable, "-m", "australis.app.cli", "stats", uri, "--watch", "--json", "--every=0.1"]
    with opened(uri, tmp_path / "here") as node:
        push(node, 0)
        node.drain()
        with subprocess.Popen(watch, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            seen = (json.loads(line)["inputs"]["s"]["received"] for line in process.stdout)
            before = next(seen)
            push(node, 1)
            node.drain()
            assert next(each for each in seen if each != before) > before
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0


# --- what is said


def test_a_missing_bucket_is_named(server: S3Server, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"s3://nowhere/.*there is no such bucket; create it first"):
        Node(server.uri("x", bucket="nowhere"), catalog=tmp_path, runner="light")


def test_wrong_credentials_are_named(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(EngineError, match="the credentials are not accepted: AWS_ACCESS_KEY_ID"):
        Node(uri, catalog=tmp_path, runner="light")


def test_a_server_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "RETRIES_FOR", timedelta(seconds=0.2))
    with pytest.raises(EngineError, match=r"http://127.0.0.1:1/bucket.*error sending request"):
        Node("s3://bucket/x?endpoint_override=127.0.0.1%3A1&scheme=http", catalog=tmp_path, runner="light")


def test_a_catalogue_needs_a_folder(uri: str) -> None:
    with pytest.raises(EngineError, match="catalog=DIRECTORY on a local disk"):
        Node(uri, runner="light")


# --- the command line


def run(uri: str, folder: Path) -> str:
    """Run a network from a file to a file, as a user does; gives what is in the output then."""
    network = "{australis: 1, name: n, inputs: {s: {schema: {k: long}}}, outputs: {out: {from: f}}, boxes: "
    (folder / "net.yaml").write_text(network + "{f: {box: filter, from: s, predicates: [k >= 0]}}}")
    command = [
        "-m",
        "australis",
        "run",
        "net.yaml",
        "--runner",
        "light",
        "--root",
        uri,
        "--catalog",
        "catalog",
    ]
    files = ["-i", "s=in.csv", "-o", "out=out.csv"]
    subprocess.run([sys.executable, *command, *files], cwd=folder, check=True)
    return (folder / "out.csv").read_text()


def test_a_run_continues_its_output_after_the_loss_of_the_catalogue(uri: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("k\n1\n2\n")
    assert run(uri, tmp_path) == "k\n1\n2\n"
    shutil.rmtree(tmp_path / "catalog")
    assert run(uri, tmp_path) == "k\n1\n2\n"
