"""The network of a service: changed under its revision, removed, paused, failed and resumed."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from tests.service.conftest import SOLDIERS, Serve
from tests.service.running import running_service
from tests.waiting import until

from australis.algebra.form import load, to_json
from australis.engine import Node
from australis.engine.ledger import UnitOfWork
from australis.errors import EngineError, Problem, ServiceError
from australis.service.access import Caller, Role
from australis.service.host import Host, Operation, OperationState
from australis.service.host.deploying import _changing, _in_turn
from australis.service.host.once import Once
from australis.service.host.operations import Operations
from australis.service.settings import NodeSection, ServiceSettings

NETWORK = to_json(load(SOLDIERS))


def other(**changed: Any) -> dict[str, Any]:
    boxes = {**NETWORK["boxes"], "enough": {**NETWORK["boxes"]["enough"], "predicates": ["soldiers >= 4"]}}
    return {**NETWORK, "boxes": boxes, **changed}


def without_count() -> dict[str, Any]:
    boxes = {"across": NETWORK["boxes"]["across"]}
    return {**NETWORK, "boxes": boxes, "outputs": {"across": {"from": "across"}}}


def deploy(client: httpx.Client, network: Any = NETWORK, **headers: str) -> httpx.Response:
    return client.put("/v1/network", json={"network": network}, headers=headers)


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_change_under_an_old_revision_is_refused(serve: Serve) -> None:
    client = serve()
    assert code(deploy(client, **{"If-Match": '"abc"'})) == (412, "revision_mismatch")
    first = deploy(client, **{"If-Match": '""'})
    assert first.status_code == 200
    second = deploy(client, other(), **{"If-Match": first.headers["ETag"]})
    assert second.json()["difference"]["altered"] == ["enough"]
    assert code(deploy(client, NETWORK, **{"If-Match": first.headers["ETag"]})) == (412, "revision_mismatch")
    assert client.get("/v1/network").headers["ETag"] == second.headers["ETag"]


def test_a_method_that_a_path_does_not_have_is_told_all_that_it_has(serve: Serve) -> None:
    refused = serve().request("PATCH", "/v1/network")
    assert code(refused) == (405, "method_not_allowed")
    assert refused.headers["Allow"] == "DELETE, GET, PUT"


def test_the_difference_is_that_of_the_change(serve: Serve) -> None:
    client = serve()
    deploy(client)
    foreseen = client.post("/v1/network/diff", json={"network": other()}).json()
    assert foreseen["difference"] == deploy(client, other()).json()["difference"]
    assert "  ~ box enough" in foreseen["lines"]


def test_what_would_be_lost_must_be_accepted(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with running_service(settings) as client:
        deploy(client)
    with Node(tmp_path, runner="light[1]") as node:
        network = node.recorded()
        assert network is not None
        node.deploy(network)
        node.push("reports", [{"sid": 1, "time": 1, "pos": 40}])
        node.drain()
    with running_service(settings) as client:
        refused = deploy(client, without_count())
        assert code(refused) == (409, "would_lose")
        assert "the state of count" in refused.json()["error"]["message"]
        body = {"network": without_count(), "accept_loss": True}
        assert "the state of count" in client.put("/v1/network", json=body).json()["difference"]["lost"]


def settings_of(root: Path) -> ServiceSettings:
    return ServiceSettings.model_validate({"node": {"root": str(root), "runner": "light[1]"}})


def test_a_network_is_removed_with_all_that_it_kept(tmp_path: Path) -> None:
    with running_service(settings_of(tmp_path)) as client:
        deploy(client)
        client.post("/v1/flush")
        assert code(client.delete("/v1/network")) == (409, "would_lose")
        assert client.delete("/v1/network?accept_loss=true").json() == {"removed": True}
        assert client.delete("/v1/network").json() == {"removed": False}
        assert client.get("/readyz").json() == {"state": "empty"}
        end = client.get("/v1/node").json()["log_end"]
        assert end > 0, "numbers continue, so that no reader takes a new tuple for an old one"
    with running_service(settings_of(tmp_path)) as client:
        assert client.get("/readyz").json() == {"state": "empty"}
        assert deploy(client, without_count()).status_code == 200
        assert client.get("/v1/statistics").json()["boxes"]["across"]["received"] == 0
        assert client.post("/v1/flush").json()["end"] > end


def test_a_removal_that_fails_leaves_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget = UnitOfWork.forget_network

    def fail(self: UnitOfWork) -> None:
        forget(self)
        raise EngineError(Problem("", "the disk is full"))

    with running_service(settings_of(tmp_path)) as client:
        deploy(client)
        monkeypatch.setattr(UnitOfWork, "forget_network", fail)
        assert client.delete("/v1/network?accept_loss=true").status_code >= 400
        assert client.get("/readyz").json() == {"state": "running"}
        assert client.get("/v1/network").json()["network"]["name"] == "soldiers"


def test_an_operation_is_followed_to_its_end(serve: Serve) -> None:
    client = serve()
    body = {"network": NETWORK}
    started = client.put("/v1/network", params={"wait": "false"}, json=body)
    assert started.status_code == 202
    address = f"/v1/operations/{started.json()['id']}"
    over = client.get(address, params={"wait_s": 30}).json()
    assert (over["state"], over["kind"]) == ("done", "deploy")
    assert over["result"]["revision"] == client.get("/v1/network").json()["revision"]
    assert client.delete(address).json()["state"] == "done"
    assert code(client.get("/v1/operations/none")) == (404, "not_found")
    assert [each["id"] for each in client.get("/v1/operations").json()["operations"]] == [over["id"]]


def test_pause_step_and_resume(serve: Serve) -> None:
    client = serve()
    assert code(client.post("/v1/network/pause")) == (409, "conflict")
    deploy(client)
    assert code(client.post("/v1/network/step")) == (409, "conflict")
    assert client.post("/v1/network/pause").json() == {"state": "paused"}
    assert client.get("/readyz").json() == {"state": "paused"}
    client.post("/v1/flush")
    for path in ("/v1/network/step", "/v1/flush"):
        # Thousands of keys are remembered.
        long = client.post(path, headers={"Idempotency-Key": "k" * 201})
        assert (long.status_code, long.json()["error"]["code"]) == (400, "invalid_request")
    key = {"Idempotency-Key": "step-1"}
    first = client.post("/v1/network/step", headers=key).json()
    assert first["train"]["superbox"]
    assert client.post("/v1/network/step", headers=key).json() == first
    assert client.post("/v1/network/step").json() == {"train": None}
    assert code(client.post("/v1/flush", headers=key)) == (422, "key_reused")
    assert client.post("/v1/network/resume").json() == {"state": "running"}


def test_a_breakpoint_pauses_before_its_tuple(serve: Serve) -> None:
    client = serve()
    assert code(client.get("/v1/breakpoints")) == (409, "conflict")
    deploy(client)
    given = {"arc": "reports", "where": "pos >= 40"}
    made = client.put("/v1/breakpoints/far", json=given).json()
    assert made == {"name": "far", **given, "stops": 0, "stop": None, "problem": ""}
    wrong = client.put("/v1/breakpoints/wrong", json={"arc": "reports", "where": "place > 1"})
    assert code(wrong) == (400, "invalid_request")
    assert wrong.json()["error"]["message"] == "unknown attribute 'place'"
    assert code(client.put("/v1/breakpoints/wrong", json={"arc": "across"})) == (409, "conflict")
    rows = [{"sid": sid, "time": 1, "pos": pos} for sid, pos in enumerate((31, 39, 40, 30))]
    client.post("/v1/inputs/reports/tuples", json=rows)
    until(lambda: bool(client.get("/v1/node").json()["state"] == "paused"))
    (found,) = client.get("/v1/breakpoints").json()["breakpoints"]
    assert found["stops"] == 1
    assert {name: found["stop"]["tuple"][name] for name in ("sid", "pos")} == {"sid": 2, "pos": 40}
    until(lambda: bool(client.get("/v1/statistics").json()["boxes"]["across"]["received"] == 2))
    train = client.post("/v1/network/step").json()["train"]
    assert (train["lo"], train["reads"], train["boxes"][0]) == (found["stop"]["seq"], ["reports"], "across")
    assert client.delete("/v1/breakpoints/far").json() == {"removed": True}
    assert client.delete("/v1/breakpoints/far").json() == {"removed": False}
    assert client.post("/v1/network/resume").json() == {"state": "running"}


def test_what_the_optimiser_did_is_told(tmp_path: Path) -> None:
    settings = {"root": str(tmp_path), "runner": "light[1]", "optimise": True}
    with running_service(ServiceSettings.model_validate({"node": settings})) as client:
        deploy(client)
        told = client.get("/v1/optimiser").json()
        assert (told["enabled"], told["switches"]) == (True, [])
        assert told["drawn"] == told["running"] == client.get("/v1/network").json()["network"]


def test_a_query_comes_and_goes(serve: Serve) -> None:
    client = serve()
    points = {"across": {"at": "across", "history": "1 h"}}
    deploy(client, {**NETWORK, "connection_points": points})
    schema = {"sid": "int not null", "time": "int", "pos": "int"}
    query = {
        "australis": 1,
        "name": "far",
        "inputs": {"across": {"schema": schema}},
        "boxes": {"f": {"box": "filter", "from": "across", "predicates": ["pos > 50"]}},
        "outputs": {"found": {"from": "f"}},
    }
    for _ in range(2):
        assert client.put("/v1/queries/far", json={"network": query}).json() == {
            "name": "far",
            "outputs": ["far"],
        }
    assert client.get("/v1/outputs/far").json()["from"] == "far.f"
    changed = {**query, "boxes": {"f": {**query["boxes"]["f"], "predicates": ["pos > 60"]}}}  # type: ignore[index]
    assert code(client.put("/v1/queries/far", json={"network": changed})) == (409, "conflict")
    assert [each["name"] for each in client.get("/v1/queries").json()["queries"]] == ["far"]
    assert client.delete("/v1/queries/far").json() == {"removed": True}
    assert client.delete("/v1/queries/far").json() == {"removed": False}
    assert code(client.put("/v1/queries/far", json={"network": {**query, "inputs": {}}})) == (
        422,
        "invalid_network",
    )


def test_a_network_that_is_invalid_is_told_with_all_its_problems(serve: Serve) -> None:
    client = serve()
    boxes = {
        **NETWORK["boxes"],
        "across": {**NETWORK["boxes"]["across"], "predicates": ["poz >= 30", "pos >="]},
    }
    bad = {**NETWORK, "boxes": boxes}
    found = client.post("/v1/network/check", json={"network": bad}).json()
    assert (found["ok"], len(found["problems"])) == (False, 2)
    refused = deploy(client, bad).json()["error"]
    assert refused["code"] == "invalid_network"
    assert refused["path"].startswith("soldiers.across.predicates")
    assert "poz" in refused["message"]
    assert client.get("/v1/node").json()["network"] is None


def test_tables_come_with_the_network(serve: Serve) -> None:
    client = serve()
    join = {"box": "join", "from": ["pos", "cars"], "predicate": "left.car = right.id", "left": {"on": "at"}}
    network = {
        "australis": 1,
        "name": "n",
        "inputs": {
            "pos": {"schema": {"car": "int", "at": "long"}},
            "cars": {"schema": {"id": "int not null", "since": "timestamp"}, "table": True},
        },
        "boxes": {"j": join},
        "outputs": {"out": {"from": "j"}},
    }
    assert code(deploy(client, network)) == (409, "conflict")
    assert client.get("/readyz").json() == {"state": "empty"}
    rows = [{"id": 1, "since": "2026-01-01T00:00:00Z"}]
    for tables in ({"cars": [{"id": "x"}]}, {"pos": rows}, {"wrong": rows}):
        refused = client.put("/v1/network", json={"network": network, "tables": tables})
        assert code(refused) == (422, "invalid_tuples")
    assert client.put("/v1/network", json={"network": network, "tables": {"cars": rows}}).status_code == 200


def test_a_host_that_cannot_resume_says_so_and_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_service(settings_of(tmp_path)) as client:
        deploy(client)
    kept = Node.deploy

    def fail(self: Node, network: Any, **given: Any) -> None:
        raise EngineError(Problem("", "the database does not answer"))

    monkeypatch.setattr(Node, "deploy", fail)
    with running_service(settings_of(tmp_path)) as client:
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").json() == {"state": "failed"}
        assert "does not answer" in client.get("/v1/node").json()["error"]
        assert code(client.get("/v1/boxes")) == (409, "conflict")
        assert code(client.post("/v1/network/resume")) == (409, "conflict")
        monkeypatch.setattr(Node, "deploy", kept)
        assert client.post("/v1/network/resume").json() == {"state": "running"}


def test_before_the_start_and_after_the_end() -> None:
    host = Host(NodeSection(runner="light[1]"))
    assert host.state == "starting"
    with pytest.raises(ServiceError, match="is starting"):
        _ = host.node
    host.start()
    assert host.state == "empty"
    host.stop()
    with pytest.raises(ServiceError, match="is stopping"):
        _ = host.node


def test_a_cancelled_operation_that_waits_never_begins() -> None:
    operations, gate, done = Operations(), threading.Event(), []
    running = [operations.start(Operation("a", "me"), gate.wait) for _ in range(4)]
    waiting = operations.start(Operation("b", "me", cancel=lambda: None), lambda: done.append(1))
    assert waiting.state is OperationState.WAITING
    operations.cancel(waiting.id)
    with pytest.raises(ServiceError, match="cannot be cancelled"):
        operations.cancel(running[0].id)
    gate.set()
    waiting.over.wait()
    assert (waiting.state, done) == (OperationState.CANCELLED, [])
    operations.close()


def test_a_call_that_fails_may_be_repeated_under_its_key() -> None:
    once, attempts = Once(), iter([ServiceError, None])

    def work() -> str:
        if next(attempts) is not None:
            raise ValueError("once")
        return "done"

    with pytest.raises(ValueError, match="once"):
        once.do(("me", "k"), "step", work)
    assert once.do(("me", "k"), "step", work) == "done"


def test_who_cancels_what_waits_for_its_turn_leaves_the_change_under_way_alone() -> None:
    cancelled: list[str] = []
    begun, gate, me = threading.Event(), threading.Event(), Caller("me", Role.OPERATOR)
    node: Any = SimpleNamespace(
        is_deployed=True, change_stage="draining", cancel_change=lambda: cancelled.append("one")
    )
    host = Host(NodeSection())
    host._node = node
    host.started.set()

    def start(kind: str) -> Operation:
        operation = _changing(host, kind, me)

        def work() -> None:
            with _in_turn(host, operation):
                begun.set()
                gate.wait()

        return host.operations.start(operation, work)

    try:
        one = start("one")
        begun.wait()
        two = start("two")
        until(lambda: two.state is OperationState.RUNNING)
        host.operations.cancel(two.id)
        assert (one.stage(), two.stage(), cancelled) == ("draining", "", [])
        host.operations.cancel(one.id)
        assert cancelled == ["one"]
    finally:
        gate.set()
        host.operations.close()
    assert two.state is OperationState.CANCELLED
