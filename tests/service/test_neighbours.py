"""Services that read from each other, as their settings and networks say."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.app.files import australis
from tests.cluster.identities import identity
from tests.service.running import running_service
from tests.waiting import until

from australis.app.running.remote import remote_node
from australis.errors import AustralisError
from australis.policy.replay import replayed
from australis.service.serving.process import Service
from australis.service.settings import ClusterSettings, NodeSection, ServiceSettings

SCHEMA = {"car": "int not null", "mph": "int"}


def network(**inputs: Any) -> dict[str, Any]:
    given = {"speeds": {"schema": SCHEMA, **inputs}}
    fast = {"box": "filter", "from": "speeds", "predicates": ["mph > 80"]}
    outputs = {"fast": {"from": "fast"}, "all": {"from": "speeds"}}
    return {"australis": 1, "name": "cars", "inputs": given, "boxes": {"fast": fast}, "outputs": outputs}


class Served:
    """Services, each with an identity, that know where the others are."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack

    def start(self, name: str, root: str = "", **cluster: Any) -> httpx.Client:
        home = identity(self._folder, name)
        settings = ServiceSettings(
            node=NodeSection(root=str(self._folder / (root or f"root-{home.name}")), runner="light[1]"),
            cluster=ClusterSettings(identity=home, listen="127.0.0.1:0", **cluster),
        )
        return self._stack.enter_context(running_service(settings))


def deploy(client: httpx.Client, **inputs: Any) -> None:
    answer = client.put("/v1/network", json={"network": network(**inputs)})
    assert answer.status_code in (200, 201, 202), answer.text


def push(client: httpx.Client, *rows: tuple[int, int]) -> None:
    found = [{"car": car, "mph": mph} for car, mph in rows]
    assert client.post("/v1/inputs/speeds/tuples", json=found).is_success


def state(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/v1/cluster").json()
    return found


def cars(client: httpx.Client, output: str) -> list[int]:
    answer = client.get(f"/v1/outputs/{output}/tuples")
    return [each["car"] for each in answer.json()] if answer.is_success else []


@pytest.fixture
def served(tmp_path: Path) -> Any:
    with ExitStack() as stack:
        yield Served(tmp_path, stack)


def test_a_network_that_names_another_nodes_output_reads_it(served: Served) -> None:
    a = served.start("lab/a")
    deploy(a)
    b = served.start("lab/b", nodes={"lab/a": state(a)["listens"]})
    deploy(b, **{"from": "lab/a/fast"})
    push(a, (1, 90), (2, 40), (3, 85))
    until(lambda: cars(b, "all") == [1, 3])
    (link,) = state(b)["links_in"]
    assert (link["input"], link["source"], link["state"]) == ("speeds", "lab/a/fast", "running")
    (out,) = state(a)["links_out"]
    assert (out["output"], out["reader"]) == ("fast", "lab/b/speeds")
    assert [(each["name"], each["is_connected"]) for each in state(a)["nodes"]] == [("lab/b", True)]


def test_links_follow_changes_of_the_network(served: Served) -> None:
    a = served.start("lab/a")
    deploy(a)
    b = served.start("lab/b", nodes={"lab/a": state(a)["listens"]}, weights={"speeds": 3})
    deploy(b)
    assert state(b)["links_in"] == []
    deploy(b, **{"from": "lab/a/fast"})
    push(a, (1, 90))
    until(lambda: cars(b, "all") == [1])
    assert state(b)["links_in"][0]["weight"] == 3
    deploy(b)
    until(lambda: state(a)["links_out"] == [])


def test_boxes_slide_to_a_neighbour_by_themselves(served: Served, tmp_path: Path) -> None:
    journal = tmp_path / "place.jsonl"
    a = served.start("lab/a", place=True, place_after_s=0.0, place_cores=1e-6, place_journal=journal)
    deploy(a)
    b = served.start("lab/b", nodes={"lab/a": state(a)["listens"]}, place=True, place_cores=100.0)
    idle = {"australis": 1, "name": "idle", "inputs": {"i": {"schema": {"x": "int"}}}}
    answer = b.put("/v1/network", json={"network": {**idle, "outputs": {"o": {"from": "i"}}}})
    assert answer.is_success
    c = served.start("lab/c", nodes={"lab/a": state(a)["listens"]})
    answer = c.put("/v1/network", json={"network": {**idle, "outputs": {"o": {"from": "i"}}}})
    assert answer.is_success
    pushed = 0

    def slid() -> bool:
        nonlocal pushed
        pushed += 1
        push(a, (pushed, 90))
        return [each["state"] for each in state(a)["moves"]] == ["taken"]

    until(slid)
    (move,) = state(a)["moves"]
    assert (move["boxes"], move["to"]) == (["fast"], "lab/b")
    assert move["stood_still_ms"] > 0
    assert "fast" in b.get("/v1/network").json()["network"]["boxes"]
    until(lambda: cars(a, "fast") == [*range(1, pushed + 1)])
    # Who does not place is not bothered by what others report.
    assert "unknown_topic" not in state(c)["refused"]
    with journal.open("rb") as lines:
        found = replayed(lines)
    assert found.events > 5
    assert not found.differences


def test_a_journal_that_cannot_be_written_stops_nothing_else(served: Served, tmp_path: Path) -> None:
    a = served.start("lab/a", place=True, place_journal=tmp_path / "none" / "journal")
    deploy(a)
    push(a, (1, 90))
    until(lambda: cars(a, "fast") == [1])
    assert state(a)["name"] == "lab/a"


def test_settings_come_before_what_is_drawn(served: Served) -> None:
    a = served.start("lab/a")
    deploy(a)
    place = state(a)["listens"]
    b = served.start("lab/b", nodes={"lab/a": place}, inputs={"speeds": "lab/a/all", "other": "lab/a/all"})
    deploy(b, **{"from": "lab/a/fast"})
    push(a, (1, 90), (2, 40))
    until(lambda: cars(b, "all") == [1, 2])


def test_a_service_without_an_identity_has_no_others(tmp_path: Path) -> None:
    settings = ServiceSettings(node=NodeSection(root=str(tmp_path / "root"), runner="light[1]"))
    with running_service(settings) as client:
        deploy(client, **{"from": "lab/a/fast"})
        assert state(client)["name"] is None


@pytest.mark.parametrize(
    ("source", "told"),
    [("fast", "is no output of another node"), ("Lab/a/fast", "is no output of another node"), (3, "")],
)
def test_a_source_that_cannot_be_is_refused(served: Served, source: Any, told: str) -> None:
    a = served.start("lab/a")
    answer = a.put("/v1/network", json={"network": network(**{"from": source})})
    assert answer.status_code == 422
    assert told in answer.text
    answer = a.put("/v1/network", json={"network": network(**{"from": "lab/a/fast", "table": True})})
    assert "exclude each other" in answer.text


def test_an_identity_that_is_not_there_is_refused_at_the_start(tmp_path: Path) -> None:
    settings = ServiceSettings(cluster=ClusterSettings(identity=tmp_path / "none"))
    with pytest.raises(AustralisError, match="australis identity new"):
        Service(settings, print)


def test_a_network_is_deployed_on_several_nodes_and_moved(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    a = served.start("lab/a")
    deploy(a)
    b = served.start("lab/b", nodes={"lab/a": state(a)["listens"]})
    nodes = {"lab/a": str(a.base_url), "lab/b": str(b.base_url)}
    (tmp_path / "cars.json").write_text(json.dumps(network()))

    def place(**where: str) -> Any:
        (tmp_path / "place.yaml").write_text(json.dumps({"nodes": nodes, "place": where}))
        return australis("deploy", "cars.json", "--nodes", "place.yaml", "--yes", "--json")

    told = json.loads(place(fast="lab/b").stdout)
    assert (told["applied"], sorted(told["nodes"]), told["removed"]) == (True, ["lab/a", "lab/b"], [])
    push(a, (1, 90), (2, 40), (3, 85))
    until(lambda: (cars(a, "all"), cars(b, "fast")) == ([1, 2, 3], [1, 3]))
    told = json.loads(place().stdout)
    assert (sorted(told["nodes"]), told["removed"]) == (["lab/a"], ["lab/b"])
    assert b.get("/v1/network").status_code in (404, 409)
    push(a, (4, 99))
    until(lambda: cars(a, "fast") == [4])
    refused = australis("deploy", "cars.json", "--nodes", "place.yaml", "--node", nodes["lab/a"])
    assert "leave out --node" in refused.stderr
    nodes["lab/b"] = "http://127.0.0.1:9"
    monkeypatch.setattr(remote_node, "ASKING_S", 0.3)
    refused = place(fast="lab/b")
    assert refused.exit_code == 1
    assert "127.0.0.1:9" in refused.stderr


def test_nodes_and_names_are_found_by_commands(served: Served) -> None:
    a = served.start("lab/a")
    deploy(a)
    b = served.start("lab/b", seeds=[state(a)["listens"]])
    deploy(b)
    url = str(b.base_url)
    until(lambda: len(json.loads(australis("nodes", "--node", url, "--json").stdout)) == 2)
    shown = australis("nodes", "--node", url).stdout
    assert [line.split()[0] for line in shown.splitlines()[2:]] == ["lab/a", "lab/b"]
    assert shown.count("alive") == 2
    assert shown.count("this node") == 1

    def nodes_with(name: str) -> list[str]:
        return [
            each["node"]
            for each in json.loads(australis("where", name, "--node", url, "--json").stdout)["places"]
        ]

    until(lambda: nodes_with("lab/fast") == ["lab/a", "lab/b"])
    assert "car int not null" in australis("where", "lab/fast", "--node", url).stdout
    (piece, _) = json.loads(australis("where", "lab/cars", "--node", url, "--json").stdout)["places"]
    assert (piece["node"], piece["kind"], piece["detail"]) == ("lab/a", "query", "fast")
    assert australis("where", "lab/none", "--node", url).exit_code == 1
    found = australis("find", "lab/f*", "--node", url).stdout
    assert [line.split() for line in found.splitlines()[2:]] == [
        ["lab/fast", "lab/a", "stream"],
        ["lab/fast", "lab/b", "stream"],
    ]


def test_a_link_by_name_is_drawn_in_the_network(served: Served) -> None:
    a = served.start("lab/a")
    deploy(a)
    b = served.start("lab/b", nodes={"lab/a": state(a)["listens"]}, inputs={"speeds": "lab/fast"})
    other = network()
    other["outputs"] = {"seen": {"from": "speeds"}}
    assert b.put("/v1/network", json={"network": other}).is_success
    push(a, (1, 90), (2, 40))
    until(lambda: cars(b, "seen") == [1])


def test_a_service_without_others_says_so(tmp_path: Path) -> None:
    settings = ServiceSettings(node=NodeSection(root=str(tmp_path / "root"), runner="light[1]"))
    with running_service(settings) as client:
        refused = australis("nodes", "--node", str(client.base_url))
        assert refused.exit_code == 1
        assert "this node is not among others" in refused.stderr
