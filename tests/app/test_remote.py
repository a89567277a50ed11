"""The commands that take `--node`, on a real service: what they do, and what they say where they cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.app.files import australis, write
from tests.service.running import running_service
from tests.waiting import until

from australis.app.running.remote import remote_node
from australis.service.access import Role, TokenFile
from australis.service.settings import ServiceSettings

NETWORK = """\
australis: 1
name: traffic
inputs:
  pos: {schema: {car: int not null, speed: int}}
  cars: {schema: {car: int not null, owner: string}, table: true, store: {at: cars.csv}}
boxes:
  fast: {box: filter, from: pos, predicates: [speed > 80]}
  owned: {box: join, from: [fast, cars], predicate: left.car = right.car, table: right}
connection_points:
  seen: {at: pos, history: 1000}
outputs:
  alarms: {from: owned}
"""
NODE = ("--node", "--token-file")


class Served:
    """A service, and the command line for it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder

    def asked(self, *arguments: str, role: str = "owner", url: str | None = None) -> tuple[int, str, str]:
        """The exit code of a command for the node, and what it prints and says."""
        found = australis(*arguments, "--node", url or self.url, "--token-file", self.folder / role)
        return found.exit_code, found.stdout, found.stderr

    def told(self, *arguments: str, role: str = "owner") -> str:
        """What a command prints that succeeds."""
        code, printed, said = self.asked(*arguments, role=role)
        assert code == 0, said
        return printed

    def push(self, *rows: tuple[int, int]) -> None:
        """Push positions, and wait for what they cause."""
        write(self.folder / "pos.csv", "car,speed\n" + "".join(f"{car},{speed}\n" for car, speed in rows))
        assert f"{len(rows):,}" in self.told("push", "pos", "pos.csv", role="operator")
        headers = {"Authorization": f"Bearer {(self.folder / 'owner').read_text()}"}
        with httpx.Client(base_url=self.url, headers=headers) as client:
            client.post("/v1/flush").raise_for_status()
            until(lambda: client.get("/v1/statistics").json()["waiting"] == 0)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A service with tokens in this folder, and no network so far."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(remote_node, "ASKING_S", 0.3)
    monkeypatch.setattr(remote_node, "STAYING_S", 0.3)
    file = TokenFile(tmp_path / "tokens.json")
    for role in Role:
        write(tmp_path / str(role), file.new(str(role), role))
    write(tmp_path / "wrong", "australis_1_2")
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "cars.csv", "car,owner\n1,Ann\n2,Bea\n")
    settings = {
        "node": {"root": str(tmp_path / "root"), "runner": "light[1]"},
        "access": {"tokens": str(file.path), "roots": [str(tmp_path)]},
    }
    with running_service(ServiceSettings.model_validate(settings)) as client:
        yield Served(str(client.base_url).rstrip("/"), tmp_path)


COMMANDS = {
    "deploy": ("deploy", "net.yaml", "--yes"),
    "query": ("query", "seen", "speed > 80", "--no-follow"),
    "history": ("history", "seen"),
    "detach": ("detach", "speeders"),
    "refresh": ("refresh", "cars"),
    "split": ("split", "fast"),
    "stats": ("stats",),
    "check": ("check", "net.yaml"),
}
each_command = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


@each_command
def test_with_a_wrong_token(served: Served, command: tuple[str, ...]) -> None:
    code, printed, said = served.asked(*command, role="wrong")
    assert (code, printed) == (1, "")
    assert "is no token of this service, or no longer" in said
    assert "australis_1_2" not in said


@each_command
def test_with_no_node_there(served: Served, command: tuple[str, ...]) -> None:
    code, printed, said = served.asked(*command, url="http://127.0.0.1:1")
    assert (code, printed) == (1, "")
    assert "http://127.0.0.1:1: cannot be reached" in said


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("deploy", "check")])
def test_where_no_network_runs(served: Served, name: str) -> None:
    code, printed, said = served.asked(*COMMANDS[name])
    assert (code, printed) == (1, "")
    assert "network" in said


@pytest.mark.parametrize("name", ["deploy", "query", "detach", "refresh", "split"])
def test_with_a_role_that_may_not(served: Served, name: str) -> None:
    served.told(*COMMANDS["deploy"])
    code, _, said = served.asked(*COMMANDS[name], role="viewer")
    assert code == 1
    assert "may not" in said or "viewer" in said


def test_a_network_is_checked_deployed_and_changed(served: Served) -> None:
    assert served.told("check", "net.yaml", role="viewer") == f"net.yaml is valid on {served.url}\n"
    assert "first network" in served.told("deploy", "net.yaml", "--dry-run")
    assert f"traffic runs on {served.url} now" in served.told("deploy", "net.yaml")
    write(served.folder / "net.yaml", NETWORK.replace("speed > 80", "speed > 90"))
    found = json.loads(served.told("deploy", "net.yaml", "--dry-run", "--json"))
    assert (found["applied"], found["altered"]) == (False, ["fast"])
    assert json.loads(served.told("deploy", "net.yaml", "--json", "--yes"))["applied"]
    assert not json.loads(served.told("deploy", "net.yaml", "--dry-run", "--json"))["altered"]


def test_what_the_node_would_refuse(served: Served) -> None:
    write(served.folder / "bad.yaml", NETWORK.replace("speed > 80", "sped > 80"))
    code, _, said = served.asked("check", "bad.yaml")
    assert code == 2
    assert "traffic.fast.predicates[0]: unknown attribute 'sped'" in said
    write(served.folder / "elsewhere.yaml", NETWORK.replace("cars.csv", "/etc/cars.csv"))
    code, printed, _ = served.asked("check", "elsewhere.yaml", "--json")
    found = json.loads(printed)
    assert (code, found["valid"]) == (2, False)
    assert "outside the folders that a deployed network may read" in found["problems"][0]["what"]
    assert australis("check", "elsewhere.yaml").exit_code == 0, "nothing is wrong with it but where it is"
    code, _, said = served.asked("check", "net.yaml", "--rate", "pos=10/s")
    assert code == 2
    assert "--rate is for networks that are checked here" in said


def test_a_node_of_the_environment_does_not_check(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUSTRALIS_NODE", "http://127.0.0.1:1")
    assert australis("check", "net.yaml").exit_code == 0
    stats = australis("stats")
    assert stats.exit_code == 1
    assert "http://127.0.0.1:1: cannot be reached" in stats.stderr


def test_statistics_are_those_of_the_root(served: Served) -> None:
    served.told(*COMMANDS["deploy"])
    served.push((1, 90), (2, 50), (3, 100))
    there = json.loads(served.told("stats", "--json", role="viewer"))
    assert there["boxes"]["fast"]["received"] == 3
    assert there["outputs"]["alarms"]["tuples"] == 1
    assert there == json.loads(australis("stats", "root", "--json").stdout)
    assert served.told("stats", role="viewer") == australis("stats", "root").stdout
    assert served.told("stats", "--shed") == "Nothing was ever shed.\n"
    code, _, said = served.asked("stats", "root")
    assert code == 2
    assert "a root and a node are given" in said


def test_history_and_queries(served: Served) -> None:
    served.told(*COMMANDS["deploy"])
    served.push((1, 90), (2, 50), (3, 100))
    rows = [json.loads(line) for line in served.told("history", "seen", "--json").splitlines()]
    assert [row["car"] for row in rows] == [1, 2, 3]
    some = served.told("history", "seen", "--where", "speed > 80", "--columns", "car", "--json")
    assert [json.loads(line)["car"] for line in some.splitlines()] == [1, 3]
    found = served.told("query", "seen", "speed > 80", "--no-follow", "--json", role="operator")
    assert [json.loads(line)["car"] for line in found.splitlines()] == [1, 3]
    assert json.loads(served.told("query", "--list", "--json")) == {}
    served.told("query", "seen", "speed > 80", "--no-follow", "--name", "speeders", "--keep", "--json")
    assert list(json.loads(served.told("query", "--list", "--json"))) == ["speeders"]
    assert served.told("detach", "speeders", role="operator") == "speeders is detached\n"
    assert json.loads(served.told("query", "--list", "--json")) == {}
    code, _, said = served.asked("history", "nothing")
    assert code != 0
    assert "nothing" in said


def test_a_box_runs_as_copies_and_as_one_again(served: Served) -> None:
    served.told(*COMMANDS["deploy"])
    shown = "fast runs as fast_1, fast_2, fast_3: the same tuples at the same moments in the same sequence\n"
    boxes = ("fast_route", "fast_1", "fast_2", "fast_3", "fast")
    wanted = shown + "".join(f"  + box {box}\n" for box in boxes) + "  - box fast\n"
    assert served.told("split", "fast", "--into", "3", "--dry-run", role="operator") == wanted
    assert served.told("split", "fast", "--into", "3", role="operator") == wanted
    assert served.told("split", "fast", "--into", "3") == "fast runs as fast_1, fast_2, fast_3 already\n"
    served.push(*((car, 90) for car in range(50)))
    counted = json.loads(served.told("stats", "--json"))["boxes"]
    assert sum(counted[f"fast_{number}"]["received"] for number in (1, 2, 3)) == 50
    code, _, said = served.asked("split", "owned")
    assert (code, "owned: looks up a stored table" in said) == (1, True)
    found = json.loads(served.told("split", "fast", "--undo", "--json"))
    assert (found["applied"], found["copies"], found["added"]) == (True, [], ["fast"])
    code, _, said = served.asked("split", "fast", "--undo", "--into", "2")
    assert (code, "--undo goes with none of" in said) == (2, True)


def test_a_query_that_does_not_follow_has_all_that_was_there(served: Served) -> None:
    write(served.folder / "net.yaml", NETWORK.replace("history: 1000", "history: 1000000"))
    served.told(*COMMANDS["deploy"])
    served.push(*((1, 90) for _ in range(200_000)))
    served.told("query", "seen", "speed > 80", "--no-follow", "-o", "found.csv")
    assert len((served.folder / "found.csv").read_text().splitlines()) == 200_001


def test_a_stored_table_is_read_again(served: Served) -> None:
    served.told(*COMMANDS["deploy"])
    write(served.folder / "cars.csv", "car,owner\n1,Ann\n2,Bea\n3,Cid\n")
    assert served.told("refresh", "cars", role="operator") == "cars is read again\n"
    served.push((3, 90), (3, 50), (3, 100))
    alarms = served.told("subscribe", "alarms", "--no-follow", "--json", role="viewer")
    assert [json.loads(line)["owner"] for line in alarms.splitlines()] == ["Cid", "Cid"]
    code, _, said = served.asked("refresh", "pos")
    assert code == 1
    assert "store" in said
