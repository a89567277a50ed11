"""Grants from the command line and over HTTP, and the example of the page, run as it stands there."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.app.files import australis
from tests.cluster.identities import authority, identity
from tests.service.running import running_service
from tests.waiting import until

from australis.service.settings import ClusterSettings, NodeSection, ServiceSettings

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"
SCHEMA = {"k": "long not null", "v": "double"}


class Two:
    """A service of the shop that has a stream, and one of the lab that reads a part of it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        for participant in ("lab", "shop"):
            authority(folder, participant)
        self.homes = {name: identity(folder, name, ("lab", "shop")) for name in ("shop/a", "lab/b")}
        self.file = folder / "some.grant"

    def start(self) -> None:
        self.a = self._start("shop/a")
        self.b = self._start("lab/b", nodes={"shop/a": state(self.a)["listens"]}, grants=[self.file])

    def _start(self, name: str, **cluster: Any) -> httpx.Client:
        settings = ServiceSettings(
            node=NodeSection(root=str(self.folder / f"root-{self.homes[name].name}"), runner="light[1]"),
            cluster=ClusterSettings(identity=self.homes[name], listen="127.0.0.1:0", **cluster),
        )
        client = self._stack.enter_context(running_service(settings))
        deploy(client, **({} if name == "shop/a" else reading("k > 3")))
        return client

    def grant(self, *options: str, holders: str = "lab/*") -> Any:
        return australis(
            *("grant", "new", holders, "--behind", "out", "--identity", str(self.homes["shop/a"])),
            *("-o", str(self.file), *options),
        )

    def link(self) -> dict[str, Any]:
        (found,) = state(self.b)["links_in"]
        return dict(found)


def reading(predicate: str) -> dict[str, Any]:
    return {"from": "shop/a/out", "before": [{"box": "filter", "predicates": [predicate]}]}


def deploy(client: httpx.Client, **inputs: Any) -> None:
    given = {"n": {"schema": SCHEMA, **inputs}}
    network = {"australis": 1, "name": "some", "inputs": given, "outputs": {"out": {"from": "n"}}}
    answer = client.put("/v1/network", json={"network": network})
    assert answer.status_code in (200, 201, 202), answer.text


def state(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/v1/cluster").json()
    return found


def push(client: httpx.Client, *found: int) -> None:
    rows = [{"k": each, "v": each / 2} for each in found]
    assert client.post("/v1/inputs/n/tuples", json=rows).is_success


def seen(client: httpx.Client) -> list[int]:
    return [each["k"] for each in client.get("/v1/outputs/out/tuples").json()]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    with ExitStack() as stack:
        yield Two(tmp_path, stack)


def test_a_network_says_what_is_done_before_and_a_grant_admits_it(two: Two) -> None:
    assert two.grant("--rate", "1000/s", "--state", "1MB").exit_code == 0
    two.start()
    until(lambda: two.link()["state"] == "running")
    assert two.link()["before"] == "filter"
    push(two.a, 1, 4, 2, 9)
    until(lambda: seen(two.b) == [4, 9])
    (piece,) = state(two.a)["pieces"]
    assert (piece["holder"], piece["output"], piece["boxes"], piece["problem"]) == (
        "lab/b/n",
        "out",
        "filter",
        "",
    )
    (held,) = state(two.b)["grants"]
    assert (held["granter"], held["id"], held["problem"]) == ("shop", piece["grant"], "")
    shown = australis("grant", "list", "--node", str(two.a.base_url)).stdout
    assert "lab/b/n" in shown
    told = json.loads(australis("grant", "list", "--node", str(two.b.base_url), "--json").stdout)
    assert [each["granter"] for each in told["grants"]] == ["shop"]
    # Deployed with other boxes, the piece is another one.
    deploy(two.b, **reading("k > 5"))
    until(lambda: two.link()["state"] == "running")
    until(lambda: json.dumps(two.a.get("/v1/queries").json()).count("k > 5") == 1)
    push(two.a, 5, 7)
    until(lambda: seen(two.b) == [4, 9, 7])
    # Without them, it is gone, and the output is not offered.
    deploy(two.b, **{"from": "shop/a/out"})
    until(lambda: state(two.a)["pieces"] == [])
    until(lambda: "not_offered" in two.link()["problem"])


def test_a_grant_is_withdrawn_over_http(two: Two, tmp_path: Path) -> None:
    two.grant()
    two.start()
    until(lambda: two.link()["state"] == "running")
    home, url = str(two.homes["shop/a"]), str(two.a.base_url)
    refused = australis(
        "grant", "withdraw", str(two.file), "--identity", str(two.homes["lab/b"]), "--node", url
    )
    assert refused.exit_code == 1
    assert "lab/b cannot sign for shop" in refused.stderr
    assert len(state(two.a)["pieces"]) == 1
    later = tmp_path / "later"
    done = australis("grant", "withdraw", str(two.file), "--identity", home, "-o", str(later))
    assert done.exit_code == 0
    assert len(state(two.a)["pieces"]) == 1
    done = australis("grant", "withdraw", str(later), "--identity", home, "--node", url)
    assert done.exit_code == 0, done.stderr
    until(lambda: state(two.a)["pieces"] == [])
    until(lambda: "the grant was withdrawn at" in two.link()["problem"])
    two.grant("--renew", str(two.file))
    until(lambda: two.link()["state"] == "running")


def test_what_is_no_withdrawal_is_refused(two: Two) -> None:
    two.grant()
    two.start()
    bodies: list[Any] = [
        {},
        {"withdrawal": 3},
        {"withdrawal": {}},
        {"withdrawal": {"type": "Signed", "said": {}, "seal": {}}},
        {"withdrawal": {"a": "x" * 100_000}},
        {"withdrawal": {}, "more": 1},
    ]
    for body in bodies:
        answer = two.a.post("/v1/cluster/withdrawals", json=body)
        assert answer.status_code in (400, 422), answer.text
    # A grant is none.
    answer = two.a.post("/v1/cluster/withdrawals", json={"withdrawal": json.loads(two.file.read_bytes())})
    assert answer.json()["error"]["code"] == "invalid_request"


def test_grants_are_shown_and_examined(two: Two) -> None:
    two.grant("--box", "filter", "--function", "abs", "--cores", "0.5", "--for", "2 days", "--at", "shop/a")
    told = json.loads(australis("grant", "show", str(two.file), "--json").stdout)
    assert (told["granter"], told["nodes"], told["boxes"], told["functions"]) == (
        "shop",
        ["shop/a"],
        ["filter"],
        ["abs"],
    )
    assert told["limits"]["cores"] == 0.5
    shown = australis("grant", "show", str(two.file), "--identity", str(two.homes["lab/b"]))
    assert "signed by shop/a" in shown.stdout
    changed = two.file.read_bytes().replace(b'"abs"', b'"log"')
    two.file.write_bytes(changed)
    refused = australis("grant", "show", str(two.file), "--identity", str(two.homes["lab/b"]))
    assert refused.exit_code == 1
    assert "was changed after that" in refused.stderr
    two.file.write_text("nonsense")
    assert "is no grant" in australis("grant", "show", str(two.file)).stderr
    renewed = two.grant("--renew", str(two.file))
    assert "is no grant" in renewed.stderr


# --- the page


def example() -> list[str]:
    """The shell blocks of the section, with ports that are free."""
    text = PAGE.read_text()
    section = re.search(r"^## Boxes at another participant's node\n(.*?)^## ", text, re.M | re.S)
    assert section is not None
    found = re.findall(r"^```\n(.*?)^```$", section[1], re.M | re.S)
    for port in ("8400", "8402", "8410"):
        # A port that is given by the system and closed again; Flight would be at the next one.
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            found = [block.replace(port, str(free.getsockname()[1])) for block in found]
    return found


def run(script: str, folder: Path) -> str:
    """The output of a shell; what it has started runs on."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with open(folder / "log", "ab") as log:
        done = subprocess.run(
            ["bash", "-eu", "-c", script],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, (folder / "log").read_text()[-3000:]
    return done.stdout


def test_the_example_of_the_page(tmp_path: Path) -> None:
    first, second, third = example()
    # Flight is not in it, and its port may not be free; one worker for each node is enough.
    first = first.replace("runner: light}", "runner: 'light[1]'}\nflight: {enabled: false}")
    assert first.count("light[1]") == 2, "the page starts two nodes"
    first = re.sub(r"^(australis serve .*) &$", r"\1 > /dev/null & echo $! >> pids", first, flags=re.M)
    try:
        run(first, tmp_path)
        told = run(second, tmp_path)
        assert "dear is valid" in told
        address = re.findall(r"curl (\S+?)/", third)[1]
        until(lambda: "running" in run(f"curl -s {address}/v1/cluster", tmp_path))
        asking, answer = third.strip().splitlines()
        run(asking, tmp_path)
        until(
            lambda: (
                [(each["sym"], each["worth"]) for each in json.loads(run(answer, tmp_path))] == [("A", 240)]
            )
        )
        granting = re.search(r"--node (\S+)\naustralis deploy dear", second)
        assert granting is not None
        run(f"australis grant withdraw trades.grant --identity a --node {granting[1]}", tmp_path)
        until(lambda: "was withdrawn at" in run(f"curl -s {address}/v1/cluster", tmp_path))
    finally:
        for pid in (tmp_path / "pids").read_text().split():
            os.kill(int(pid), signal.SIGTERM)
