"""`australis doctor`: what a machine lacks is named, with what to do; a tuple goes through a real node."""

from __future__ import annotations

import json
import os
import resource
import socket
from pathlib import Path

import pytest
from tests.app.files import australis
from tests.crash.disks import small_disk

from australis.app.doctor import Examination, Finding, Status, examine, machine


def found(what: str, asked: Examination) -> Finding:
    (finding,) = (each for each in examine(asked) if each.what == what)
    return finding


QUICK = Examination("light", is_quick=True)
NOBODY = 65_534


def test_a_light_node_needs_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    answer = australis("doctor", "--runner", "light", "--root", str(tmp_path / "root"))
    assert answer.exit_code == 0, answer.output
    last = answer.stdout.splitlines()[-1]
    assert last.startswith("ok       light    a node started, took a tuple through, and stopped in ")
    assert " java " not in answer.stdout
    assert not (tmp_path / "root").exists(), "nothing is made"


@pytest.mark.usefixtures("spark")
def test_spark_takes_a_tuple_through() -> None:
    findings = list(examine(Examination()))
    assert [each.what for each in findings][-2:] == ["java", "spark"]
    assert {each.status for each in findings if each.what in ("java", "spark")} == {Status.OK}


def test_a_missing_java_is_named_and_no_node_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = australis("doctor", "--json")
    report = json.loads(answer.stdout)
    assert (answer.exit_code, report["fit"]) == (1, False)
    last = report["findings"][-1]
    assert (last["what"], last["status"]) == ("java", "failed")
    assert "which does not run" in last["told"]
    assert "pip install 'australis[jre]'" in last["advice"]


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = australis("doctor", "--quick", "--runner", "light", "--port", str(port))
        assert answer.exit_code == 1
        assert f"failed   port     127.0.0.1:{port} cannot be used: Address already in use" in answer.stdout
        assert "-> another port" in answer.stdout
    assert found("port", Examination("light", ports=[("127.0.0.1", port)], is_quick=True)).status is Status.OK


@pytest.mark.parametrize("given", ["metrics", "-1", "65536", "localhost:"])
def test_what_is_no_port(given: str) -> None:
    answer = australis("doctor", "--quick", "--port", given)
    assert answer.exit_code == 2
    assert "is no port: try 9464 or 0.0.0.0:9464" in answer.stderr


def test_a_folder_that_may_not_be_entered(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    if user := os.geteuid():
        finding = machine.check_disk(closed / "root")
    else:
        # Nothing is closed to root.
        os.seteuid(NOBODY)
        try:
            finding = machine.check_disk(closed / "root")
        finally:
            os.seteuid(user)
    assert finding.status is Status.FAILED
    assert f"{closed / 'root'} cannot be written: Permission denied" in finding.told
    assert "a folder that this user may write to" in finding.advice


def test_a_disk_that_is_nearly_full() -> None:
    with small_disk(20 << 20) as disk:
        if disk is None:
            pytest.skip("this process may not mount a disk")
        finding = found("disk", Examination("light", root=str(disk.path / "root"), is_quick=True))
    assert finding.status is Status.FAILED
    assert " MB free" in finding.told


def test_a_root_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    finding = found("disk", Examination("light", root=str(tmp_path / "file" / "root"), is_quick=True))
    assert finding.status is Status.FAILED
    assert "cannot be written: Not a directory" in finding.told


def test_a_root_that_is_a_uri_needs_a_folder_for_its_catalogue() -> None:
    finding = found("root", Examination("light", root="s3://bucket/root", is_quick=True))
    assert (finding.status, finding.told) == (Status.FAILED, "cannot hold the catalogue")


def test_an_object_store_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    root = "s3://bucket/root?endpoint_override=127.0.0.1:1&scheme=http"
    finding = found("root", Examination("light", root=root, catalog=tmp_path, is_quick=True))
    assert finding.status is Status.FAILED


def test_few_open_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    try:
        finding = found("files", QUICK)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (finding.status, finding.told) == (Status.WARNING, "a process may open 512")


def test_little_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 4000000 kB\n")
    (tmp_path / "memory.max").write_text("3000000000\n")
    (tmp_path / "memory.current").write_text("2500000000\n")
    monkeypatch.setattr(machine, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "_GROUP", tmp_path)
    finding = found("memory", QUICK)
    assert (finding.status, finding.told) == (Status.WARNING, "500 MB available")
    (tmp_path / "memory.max").write_text("max\n")
    assert found("memory", QUICK).told == "4.1 GB available"
