"""`australis serve` as a process: what a newcomer does, signals, and what prevents the start."""

from __future__ import annotations

import json
import re
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

PAGE = (Path(__file__).parents[2] / "docs" / "service.md").read_text()


@contextmanager
def service(*arguments: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves, and its address; it is ended if the block has not."""
    command = [sys.executable, "-m", "australis", "serve", "--json", "--runner", "light[1]"]
    command += ["--root", str(folder / "root"), "--set", "flight.enabled=false", *arguments]
    log = (folder / "log").open("w")
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, (folder / "log").read_text()
        yield process, json.loads(line)["url"]
    finally:
        process.kill()
        process.wait()
        log.close()
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def ready(url: str, **options: Any) -> Iterator[httpx.Client]:
    """A client of a service that is ready."""
    with httpx.Client(base_url=url, timeout=120, **options) as client:
        while client.get("/readyz").status_code != 200:
            assert client.get("/healthz").json()["state"] in ("starting", "empty", "running")
        yield client


def test_the_page_can_be_followed(tmp_path: Path) -> None:
    """The network, the tuples and the alarm of the first section, and the end by a signal."""
    (network,) = re.findall(r"cat > network\.json <<'END'\n(.*?)END", PAGE, re.S)
    (tuples,) = re.findall(r"--data-binary @- <<'END'\n(.*?)END", PAGE, re.S)
    with service("--listen", "127.0.0.1:0", folder=tmp_path) as (process, url), ready(url) as client:
        json_type = {"Content-Type": "application/json"}
        assert client.put("/v1/network", content=network, headers=json_type).status_code == 200
        with client.stream("GET", "/v1/outputs/alarms/events") as events:
            lines = events.iter_lines()
            headers = {"Content-Type": "text/csv", "Idempotency-Key": "first"}
            pushed = [client.post("/v1/inputs/reports/tuples", content=tuples, headers=headers) for _ in "ab"]
            assert [(each.json()["accepted"], each.json()["repeated"]) for each in pushed] == [
                (6, False),
                (6, True),
            ]
            data = next(line for line in lines if line.startswith("data:"))
            (alarm,) = json.loads(data.removeprefix("data:"))
            assert (alarm["time"], alarm["soldiers"]) == (1, 3)
            process.send_signal(signal.SIGTERM)
            assert "event: end" in list(lines), "a stream is told that the service stops"
        assert process.wait() == 0
    with service("--listen", "127.0.0.1:0", folder=tmp_path) as (process, url), ready(url) as client:
        assert [each["time"] for each in client.get("/v1/outputs/alarms/tuples").json()] == [1]
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


def refused(*arguments: str, folder: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "australis", "serve", "--runner", "light[1]", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("australis:")]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return done.returncode, lines[0]


def test_what_prevents_the_start_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        code, line = refused("--listen", place, folder=tmp_path)
    assert (code, f"cannot listen on {place}: Address already in use" in line) == (1, True)
    code, line = refused("--set", "nod.root=x", folder=tmp_path)
    assert (code, "perhaps 'node'" in line) == (2, True)
    code, line = refused("--set", "tls.certificate=gone.pem", "--set", "tls.key=gone.pem", folder=tmp_path)
    assert (code, "gone.pem cannot be read" in line) == (1, True)
    code, line = refused("--listen", "0.0.0.0:0", folder=tmp_path)
    assert (code, "which other machines can reach, without TLS" in line) == (1, True)


def test_a_root_that_another_node_has(tmp_path: Path) -> None:
    with service("--listen", "127.0.0.1:0", folder=tmp_path) as (_, url), ready(url):
        code, line = refused("--root", "root", "--listen", "127.0.0.1:0", folder=tmp_path)
        assert code == 1
        assert str(tmp_path / "root") in line


def test_a_certificate_is_served(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "own.pem"))
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    pem = ["--set", "tls.certificate=own.pem", "--set", "tls.key=own.pem"]
    with service("--listen", "localhost:0", *pem, folder=tmp_path) as (_, url):
        assert url.startswith("https://")
        port = url.rpartition(":")[2]
        with ready(f"https://localhost:{port}", verify=trusted) as client:
            assert client.get("/v1/node").status_code == 200
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(f"https://localhost:{port}/healthz")
