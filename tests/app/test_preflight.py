"""What a run is refused for is said before Spark starts, and nothing is left of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from tests.app.files import NAMES, NETWORK, REPORTS, australis, write

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.form import dumps
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.store import Store

INPUTS = ("--input=reports=reports.csv", "--input=names=names.csv")
PROGRAM = """\
import json, sys
from click.testing import CliRunner
from australis.app.cli import main
answer = CliRunner().invoke(main, json.loads(sys.argv[1]))
print(json.dumps([answer.exit_code, answer.stderr, "pyspark" in sys.modules]))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "names.csv", NAMES)
    return tmp_path


def refusal(*arguments: str) -> tuple[int, str]:
    """Call the command in a process of its own, which must not have loaded Spark when it is refused."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(["run", *arguments])],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    code, said, is_loaded = json.loads(done.stdout)
    assert not is_loaded, said
    return code, said


def made_root() -> None:
    """A root on which the network ran, and wrote an output."""
    done = australis(
        "run", "net.yaml", *INPUTS, "-o", "counts=counts.csv", "--root=root", "--runner=light[1]"
    )
    assert done.exit_code == 0, done.output


def other_network() -> None:
    made_root()
    write(Path("net.yaml"), NETWORK.replace("pos >= 30", "pos >= 31"))


def changed_output() -> None:
    made_root()
    write(Path("counts.csv"), "cut\n")


def strange_output() -> None:
    write(Path("counts.csv"), "mine\n")


def strange_parts() -> None:
    write(Path("counts.parquet"), "mine\n")


def no_table_file() -> None:
    Path("names.csv").unlink()


def stored(store: Store) -> None:
    net = NetworkBuilder("soldiers")
    names = net.table("names", "sid int, name string", store=store)
    reports = net.input("reports", "sid int not null, time long, pos int")
    reports.join(names, "left.sid = right.sid", left=Order("time"), as_="named").output("counts")
    write(Path("net.yaml"), dumps(net.build()))


def no_store() -> None:
    stored(Store("nowhere.parquet"))


def no_database() -> None:
    stored(Store("sqlite:///nowhere.db", "names"))


def nothing() -> None:
    """All is as it should be."""


@pytest.mark.parametrize(
    ("prepare", "options", "code", "message"),
    [
        (
            other_network,
            ("--root=root",),
            1,
            "expected the same network, or another root; `australis deploy NET --root DIR`",
        ),
        (no_table_file, (), 2, "names.csv: there is no such file"),
        (no_store, (), 1, "nowhere.parquet: there is no such file"),
        (no_database, (), 1, "nowhere.db cannot be read: unable to open database file"),
        (
            nothing,
            ("-o", "counts=gone/c.csv"),
            1,
            "gone/c.csv: cannot be written; expected a folder that is there",
        ),
        (nothing, ("-o", "counts=/proc/c.csv"), 1, "/proc/c.csv: cannot be written"),
        (nothing, ("-o", "counts=/proc/c.csv", "--root=r"), 1, "/proc/c.csv: cannot be written"),
        (nothing, ("-o", "counts=/proc/c.parquet", "--root=r"), 1, "/proc/c.parquet: cannot be written"),
        (strange_output, ("-o", "counts=counts.csv", "--root=r"), 1, "and this node did not write it"),
        (strange_parts, ("-o", "counts=counts.parquet", "--root=r"), 1, "counts.parquet: is a file"),
        (changed_output, ("-o", "counts=counts.csv", "--root=root"), 1, "counts.csv: has 4 bytes, and "),
        (nothing, ("--root=/proc/r",), 1, "/proc/r"),
        (nothing, ("-o", "count=c.csv"), 2, "there is no output 'count'; there is counts, near, quarantine"),
        (nothing, ("-i", "raports=r.csv"), 2, "there is no input 'raports'; there is reports, names"),
        (nothing, ("--rate=fast",), 2, "'fast' is no rate"),
        (nothing, ("--metrics=http",), 2, "is no port"),
    ],
)
def test_refused_before_spark_starts(
    prepare: Callable[[], None], options: tuple[str, ...], code: int, message: str
) -> None:
    prepare()
    before = sorted(os.listdir())
    inputs = INPUTS[:1] if prepare in (no_store, no_database) else INPUTS
    found, said = refusal("net.yaml", *inputs, *options)
    assert (found, message in said) == (code, True), said
    assert sorted(set(os.listdir()) - {"r"}) == before


def test_a_root_that_another_process_has(folder: Path) -> None:
    with Node(folder / "root", runner="light[1]"):
        code, said = refusal("net.yaml", *INPUTS, "--root=root")
    assert code == 1
    assert "is open in another node, process" in said


def test_a_port_that_is_taken(folder: Path) -> None:
    with Node(runner="light[1]", metrics=0) as node:
        assert node.metrics is not None
        port = node.metrics.url.removesuffix("/metrics").rpartition(":")[2]
        code, said = refusal("net.yaml", *INPUTS, f"--metrics={port}")
    assert code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in said


def test_tuples_that_wait_keep_their_discipline(folder: Path) -> None:
    with Node(folder / "root", runner="light[1]", discipline="train") as node:
        node.deploy(_streams())
        node.pause()
        node.push("reports", _table())
    write(folder / "net.yaml", dumps(_streams()))
    code, said = refusal("net.yaml", "--input=reports=reports.csv", "--root=root", "--discipline=superbox")
    assert code == 1
    assert "has tuples waiting; expected the discipline 'train' until the node is drained" in said


def _streams() -> Network:
    net = NetworkBuilder("soldiers")
    reports = net.input("reports", "sid int not null, time long, pos int")
    reports.filter("pos > 30", as_="across").map({"sid": "sid"}, as_="who").output("counts")
    return net.build()


def _table() -> pa.Table:
    return pa.table({"sid": pa.array([1], pa.int32()), "time": [1], "pos": pa.array([40], pa.int32())})
