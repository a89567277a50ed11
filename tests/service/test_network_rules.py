"""What a network that comes over the network may name."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.service.running import running_service

from australis.algebra.form import from_json
from australis.errors import ErrorCode, ServiceError
from australis.service.access import NetworkRules
from australis.service.host import network_of
from australis.service.settings import AccessSettings, ServiceSettings


def network(at: str, table: str = "") -> dict[str, object]:
    store = {"at": at, "table": table} if table else {"at": at}
    cars = {"schema": {"id": "int"}, "table": True, "store": store}
    join = {"box": "join", "from": ["pos", "cars"], "predicate": "left.car = right.id", "left": {"on": "at"}}
    return {
        "australis": 1,
        "name": "n",
        "inputs": {"pos": {"schema": {"car": "int", "at": "long"}}, "cars": cars},
        "boxes": {"j": join},
        "outputs": {"out": {"from": "j"}},
    }


def problems(
    at: str, table: str = "", environment: dict[str, str] | None = None, **access: object
) -> list[str]:
    rules = NetworkRules(AccessSettings.model_validate(access), environment or {})
    return [str(each) for each in rules.problems(from_json(network(at, table)))]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cars.csv").write_text("id\n1\n")
    (tmp_path / "secret.csv").write_text("id\n7\n")
    (tmp_path / "data" / "link.csv").symlink_to(tmp_path / "secret.csv")
    (tmp_path / "data" / "out").symlink_to(tmp_path)
    return tmp_path / "data"


def test_files_below_a_root(data: Path) -> None:
    assert problems(f"{data}/cars.csv", roots=[data]) == []
    assert problems(f"{data}/./sub/../cars.csv", roots=[data]) == []
    assert problems(f"sqlite:///{data}/cars.db", "t", roots=[data]) == []
    variables = {"AUSTRALIS_DATA": str(data)}
    allowed = {"roots": [data], "variables": ["AUSTRALIS_DATA"]}
    assert problems("${AUSTRALIS_DATA}/cars.csv", environment=variables, **allowed) == []


@pytest.mark.parametrize(
    "at",
    ["{}/../secret.csv", "{}/link.csv", "{}/out/secret.csv", "/etc/passwd", "{}/../data2/x.csv", "x.csv"],
)
def test_files_elsewhere(at: str, data: Path) -> None:
    (found,) = problems(at.format(data), roots=[data])
    assert "outside the folders" in found
    assert found.startswith("n.cars.store.at")


@pytest.mark.parametrize(
    "at", ["sqlite:///{}/../secret.db", "sqlite:///{}/%2e%2e/secret.db", "sqlite:////etc/x.db"]
)
def test_databases_in_files_elsewhere(at: str, data: Path) -> None:
    assert "outside the folders" in problems(at.format(data), "t", roots=[data])[0]


def test_without_roots_no_file_at_all(data: Path) -> None:
    assert problems(f"{data}/cars.csv")


def test_variables(data: Path) -> None:
    secret = {"AUSTRALIS_OTHER": str(data), "HOME": "/", "AUSTRALIS_UP": f"{data}/.."}
    (found,) = problems("${AUSTRALIS_OTHER}/cars.csv", environment=secret, roots=[data])
    assert "which a deployed network may not read" in found
    allowed = {"roots": [data], "variables": ["AUSTRALIS_UP"]}
    assert "outside" in problems("${AUSTRALIS_UP}/secret.csv", environment=secret, **allowed)[0]
    assert "is not set" in problems("${AUSTRALIS_UP}/x", environment={}, **allowed)[0]


@pytest.mark.parametrize(
    "at",
    [
        "postgresql://me@db.example/cars",
        "postgres://db.example:5432/cars",
        "postgresql://db.example/c?sslmode=require",
    ],
)
def test_hosts_that_are_allowed(at: str) -> None:
    assert problems(at, "t", hosts=["db.example:5432"]) == []
    assert problems(at, "t", hosts=["DB.example"]) == []


@pytest.mark.parametrize(
    "at",
    [
        "postgresql://evil.example/cars",
        "postgresql://db.example:5433/cars",
        "postgresql:///cars",
        "postgresql://db.example,evil.example/cars",
        "postgresql://db.example@evil.example/cars",
        "postgresql://me@db.example@evil.example/cars",
        "postgresql://db.example#@evil.example/cars",
        "postgresql://db.example\\@evil.example/cars",
        "postgresql://db.example/cars?host=evil.example",
        "postgresql://db.example/cars?ho%73t=evil.example",
        "postgresql://db.example/cars?hostaddr=192.0.2.1",
        "postgresql://db.example/cars?service=evil",
        "postgresql://db.example/cars?passfile=/etc/passwd",
        "postgresql://%2Ftmp/cars",
        "postgresql://db.example\t.evil.example/cars",
    ],
)
def test_hosts_that_are_not(at: str) -> None:
    assert problems(at, "t", hosts=["db.example:5432"])


def test_functions_are_never_imported() -> None:
    """A name of a function that the program has not registered is unknown, whatever it names."""
    document = {
        "australis": 1,
        "name": "n",
        "inputs": {"a": {"schema": {"x": "string"}}},
        "boxes": {"m": {"box": "map", "from": "a", "expressions": {"y": "`os:system`(x)"}}},
        "outputs": {"o": {"from": "m"}},
    }
    with pytest.raises(ServiceError) as refused:
        network_of(document)
    assert refused.value.code is ErrorCode.INVALID_NETWORK


def test_a_service_refuses_them_before_anything_is_read(data: Path, tmp_path: Path) -> None:
    sqlite3.connect(data / "cars.db").executescript("create table t (id integer); insert into t values (1)")
    settings = {
        "node": {"root": str(tmp_path / "root"), "runner": "light[1]"},
        "access": {"roots": [str(data)]},
    }
    with running_service(ServiceSettings.model_validate(settings)) as client:
        for document in (network("/etc/passwd"), network("postgresql://127.0.0.1/x", "t")):
            refused = client.put("/v1/network", json={"network": document})
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
            assert refused.json()["error"]["path"] == "n.cars.store.at"
            assert client.post("/v1/network/check", json={"network": document}).json()["ok"] is False
        assert client.put("/v1/network", json={"network": network(f"{data}/cars.csv")}).status_code == 200
