"""`australis deploy` and its neighbours where the node is killed, and where none runs."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from tests.app.files import NAMES, REPORTS, australis, write
from tests.app.files import NETWORK as SOLDIERS
from tests.app.running import NETWORK, Running, client, rest_of

from australis.algebra.form.form import load
from australis.engine.control.address import FILE, Place
from australis.engine.control.client import reach
from australis.engine.control.temporary_queries import FILE as GUESTS
from australis.engine.ledger.view import known_record
from australis.engine.node import Node
from australis.engine.observe.inspect import look

pytestmark = pytest.mark.timeout(600)
SLOW = NETWORK.replace("fast", "slow").replace("speed > 80", "speed < 10")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUSTRALIS_ROOT", "root")
    return tmp_path


@pytest.mark.usefixtures("spark", "heeding_signals")
def test_a_node_that_is_killed(folder: Path) -> None:
    """Its clients say so; the root can be changed without it; the next node takes their queries away."""
    node = Running(folder)
    with node.control() as control, client(folder, "query", "pos", "--root=root", "--name=lost") as asking:
        assert asking.stdout is not None
        assert json.loads(asking.stdout.readline())["time"] == 0
        assert set(control.attached()) == {"lost"}
        node.end(signal.SIGKILL)
        rest, said = rest_of(asking)
    times = [json.loads(line)["time"] for line in rest.splitlines()]
    assert times == list(range(1, len(times) + 1))
    assert asking.returncode == 1
    assert said == (
        f"australis: root: its node, process {node.process.pid}, has gone; what it had committed is safe; "
        "expected `australis run` to continue from there\n"
    )

    assert Place.read(folder / "root") is not None
    assert json.loads((folder / "root" / GUESTS).read_text()) == ["lost"]
    assert json.loads(australis("query", "--list", "--json").stdout) == {
        "lost": {"points": ["pos"], "outputs": ["found"]}
    }
    for option in ("--keep", "--follow", "--name=x"):
        refused = australis("query", "pos", option)
        assert (refused.exit_code, "no node answers on root" in refused.stderr) == (2, True)

    write(folder / "slow.yaml", SLOW)
    shown = australis("deploy", "slow.yaml", "--dry-run")
    assert (shown.exit_code, "+ box slow" in shown.stdout) == (0, True), shown.output
    assert set(known_record(folder / "root").network.outputs) == {"fast", "means"}
    answer = australis("deploy", "slow.yaml", "--yes")
    assert answer.exit_code == 0, answer.output
    assert set(known_record(folder / "root").network.outputs) == {"slow", "means"}

    again = Running(folder, "slow.yaml")
    with again.control() as control:
        assert (control.attached(), set(control.network().outputs)) == ({}, {"slow", "means"})
    assert not (folder / "root" / GUESTS).exists()
    assert "everything received is safe in root" in again.end(signal.SIGTERM)
    assert not (folder / "root" / FILE).exists()


@pytest.mark.usefixtures("spark", "heeding_signals")
def test_changes_without_a_node(folder: Path) -> None:
    """A new stored table is given with its rows; what is lost must be said; queries can be detached."""
    write(folder / "net.yaml", SOLDIERS)
    write(folder / "reports.csv", REPORTS)
    write(folder / "names.csv", NAMES)
    files = ("-i", "reports=reports.csv", "-i", "names=names.csv")
    assert australis("run", "net.yaml", *files, "--root=root").exit_code == 0
    assert reach(folder / "root") is None

    more = SOLDIERS.replace(
        "boxes:\n",
        "  ranks: {schema: {sid: int, rank: string}, table: true}\nboxes:\n"
        "  ranked: {box: join, from: [reports, ranks], predicate: left.sid = right.sid, left: {on: time}}\n",
    ).replace("outputs:\n", "outputs:\n  ranked: {from: ranked}\n")
    write(folder / "more.yaml", more)
    write(folder / "ranks.csv", "sid,rank\n1,major\n")
    missing = australis("deploy", "more.yaml")
    assert (missing.exit_code, "soldiers.ranks: is a stored table without rows" in missing.stderr) == (
        1,
        True,
    )
    write(folder / "bad.csv", "sid,rank\none,major\n")
    bad = australis("deploy", "more.yaml", "--table=ranks=bad.csv")
    assert (bad.exit_code, "bad.csv: 1 rows do not fit, the first: bad.csv, line 2" in bad.stderr) == (
        1,
        True,
    )
    unknown = australis("deploy", "more.yaml", "--table=rank=ranks.csv")
    assert (unknown.exit_code, "there is no table 'rank'" in unknown.stderr) == (2, True)
    done = australis("deploy", "more.yaml", "--table=ranks=ranks.csv", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["applied"], told["added"], told["inputs_added"]) == (True, ["ranked"], ["ranks"])

    refused = australis("deploy", "net.yaml", "--json")
    less = SOLDIERS.replace("  count:\n", "  counted:\n").replace("{from: count}", "{from: counted}")
    write(folder / "less.yaml", less)
    refused = australis("deploy", "less.yaml")
    assert (refused.exit_code, "Add --yes if that is meant" in refused.stderr) == (2, True), refused.output
    assert "count" in look(folder / "root").boxes
    assert australis("deploy", "less.yaml", "--yes").exit_code == 0
    assert "counted" in look(folder / "root").boxes


@pytest.mark.usefixtures("spark")
def test_a_root_that_somebody_has_open_without_control(folder: Path) -> None:
    write(folder / "cars.yaml", NETWORK)
    with Node("root") as node:
        node.deploy(load("cars.yaml"))
        answer = australis("deploy", "cars.yaml")
        assert (answer.exit_code, "root: is open in another node" in answer.stderr) == (1, True)


@pytest.mark.usefixtures("spark")
def test_a_node_that_runs_nothing_so_far(folder: Path) -> None:
    write(folder / "cars.yaml", NETWORK)
    with Node("root", control=True) as node:
        answer = australis("deploy", "cars.yaml")
        assert (answer.exit_code, "runs no network; expected deploy() first" in answer.stderr) == (1, True)
        node.deploy(load("cars.yaml"))
        assert australis("deploy", "cars.yaml").stdout == "nothing changes\ncars runs on root now\n"
        assert australis("query", "pos", "--no-follow").stdout == ""


@pytest.mark.parametrize(
    "command", [("deploy", "net.yaml"), ("query", "pos"), ("detach", "x"), ("history", "x")]
)
def test_what_is_no_root(folder: Path, command: tuple[str, str]) -> None:
    write(folder / "net.yaml", SOLDIERS)
    answer = australis(*command)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "root: there is no such folder; expected a folder that `australis run --root`" in answer.stderr
    assert not (folder / "root").exists()


def test_no_root_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUSTRALIS_ROOT")
    answer = australis("query", "pos")
    assert (answer.exit_code, "Missing option '--root' (or set AUSTRALIS_ROOT)." in answer.stderr) == (
        2,
        True,
    )
