"""What is wrong with a cluster is named soon: no master, no worker, a root that workers do not see."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.app.files import COUNTS, NAMES, NETWORK, REPORTS, write
from tests.crash.processes import left_of
from tests.spark_cluster.standalone import HOST, Cluster

from australis.engine.crash_points import LOG_VARIABLE
from australis.engine.spark.cluster import check_master
from australis.errors import EngineError

INPUTS = ("--input=reports=reports.csv", "--input=names=names.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARK_LOCAL_IP", HOST)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "names.csv", NAMES)
    return tmp_path


def started(folder: Path, master: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "australis.app.cli", "run", "net.yaml", *INPUTS, f"--master={master}"]
    return subprocess.Popen(
        [*command, "--output=counts=counts.csv", *options],
        cwd=folder,
        env={**os.environ, LOG_VARIABLE: f"{folder}/reached"},
        stderr=subprocess.PIPE,
        text=True,
    )


def refused(folder: Path, master: str, *options: str) -> str:
    """What a run says that fails."""
    process = started(folder, master, *options)
    _, said = process.communicate(timeout=100)
    assert process.returncode == 1, said
    assert "Traceback" not in said
    assert not (folder / "counts.csv").exists()
    assert left_of(folder, 30.0) == []
    return said


def test_a_port_at_which_nothing_answers(folder: Path) -> None:
    with socket.socket() as free:
        free.bind((HOST, 0))
        master = f"spark://{HOST}:{free.getsockname()[1]}"
        said = refused(folder, master)
    address = master.removeprefix("spark://")
    assert said.startswith(f"australis: {master}: no Spark master answers: {address}: Connection refused; ")
    assert said.endswith(
        "expected the address of a running master as its web page shows it, spark://HOST:7077\n"
    )
    assert "Java" not in said


@pytest.mark.parametrize(
    ("master", "message"),
    [
        ("spark://nowhere.invalid:7077", "no Spark master answers: nowhere.invalid:7077: "),
        (f"spark://{HOST}", f"'{HOST}' has no host and port; expected spark://HOST:7077"),
        (f"spark://{HOST}:x", f"'{HOST}:x' has no host and port"),
        ("spork://a:7077", r"master: is 'spork://a:7077'; expected local\[2\], local"),
    ],
)
def test_what_is_no_master(master: str, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        check_master(master)


def test_one_of_several_masters_is_enough() -> None:
    with socket.create_server((HOST, 0)) as server:
        check_master(f"spark://{HOST}:1,{HOST}:{server.getsockname()[1]}")


def test_a_cluster_without_workers(folder: Path) -> None:
    with Cluster(folder, workers=0) as empty:
        said = refused(folder, empty.url, "--worker-wait=4")
    waiting, failed = said.splitlines()
    assert waiting == (
        f"australis: waiting for a worker of {empty.url}: none has taken the application so far"
    )
    assert failed.startswith(
        f"australis: {empty.url}: no worker has taken the application for 4 s; expected "
    )


def test_an_end_that_is_asked_for_while_no_worker_comes(folder: Path) -> None:
    with Cluster(folder, workers=0) as empty, started(folder, empty.url) as process:
        assert process.stderr is not None
        assert "waiting for a worker" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
        assert process.wait(60) == 143, said
        assert said == ""
        assert left_of(folder, 30.0) == []


def test_a_worker_that_comes_later_is_taken(folder: Path) -> None:
    with Cluster(folder, workers=0) as late, started(folder, late.url, "--flush") as process:
        assert process.stderr is not None
        assert "waiting for a worker" in process.stderr.readline()
        late.start_worker()
        said = process.stderr.read()
    assert process.returncode == 0, said
    assert (folder / "counts.csv").read_text() == COUNTS


@pytest.mark.skipif(
    subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0,
    reason="to hide a folder from a process takes a mount namespace",
)
def test_a_root_that_workers_do_not_see(folder: Path) -> None:
    """The worker has a folder of its own where the driver has the root."""
    hidden = folder / "hidden"
    hidden.mkdir()
    with Cluster(folder, workers=0) as cluster:
        cluster.start_worker("unshare", "-m", "sh", "-c", f'mount -t tmpfs none {hidden} && exec "$@"', "sh")
        said = refused(folder, cluster.url, "--root=hidden/root")
    assert f"australis: {cluster.url}: the worker on " in said
    assert f"does not see the root file://{hidden}/root: " in said
    assert (
        "expected a root on storage that the driver and all workers reach under the same path or URI" in said
    )


def test_workers_without_australis(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of the workers is another one, with PySpark and nothing else."""
    bare = write(folder / "bare", f'#!/bin/sh\nPYTHONPATH= exec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(bare))
    with Cluster(folder, workers=1) as cluster:
        said = refused(folder, cluster.url)
    assert "the Python of the workers has no " in said
    assert "expected Australis installed on every worker, in the Python that PYSPARK_PYTHON names" in said
