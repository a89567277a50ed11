"""`australis query`, `detach` and `deploy` from other processes, at a run that goes on."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.app.files import australis, write
from tests.app.running import COMMAND, NETWORK, Running, client, rest_of
from tests.waiting import until

from australis.algebra.form.form import load
from australis.engine.control.address import Place

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
AVERAGES = """\
australis: 1
name: averages
inputs:
  reports: {schema: {car: int not null, time: long not null, speed: double}}
boxes:
  mean: {box: aggregate, from: reports, functions: {mean: avg(speed)}, order: {on: time}, size: 100}
  high: {box: filter, from: mean, predicates: [mean > 50]}
outputs:
  high: {from: high}
  low: {from: high.1}
"""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("running")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    running = Running(folder, "cars.yaml", "--output=fast=fast.csv")
    yield running
    said = running.end(signal.SIGINT)
    signal.signal(signal.SIGINT, before)
    assert "interrupted; everything received is safe in root" in said
    assert Place.read(folder / "root") is None


@pytest.fixture(autouse=True)
def folder(node: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the run; no test leaves a query behind."""
    monkeypatch.chdir(node.folder)
    monkeypatch.setenv("AUSTRALIS_ROOT", "root")
    yield node.folder
    with node.control() as control:
        assert control.attached() == {}


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


# --- what is asked


def test_all_that_has_arrived_in_order_without_gap(node: Running) -> None:
    with node.control() as control:
        arrived = control.statistics()["log_end"]
    answer = australis("query", "pos", "--no-follow")
    assert (answer.exit_code, answer.stderr) == (0, "")
    times = [each["time"] for each in lines(answer.stdout)]
    assert times == list(range(len(times)))
    assert len(times) > arrived // 2


def test_a_predicate_and_what_is_computed() -> None:
    answer = australis(
        "query", "pos", "speed > 99", "--map", "when=time", "--map", "over=speed - 99", "--limit=3"
    )
    assert answer.exit_code == 0
    found = lines(answer.stdout)
    assert (len(found), set(found[0])) == (3, {"when", "over"})
    assert all(0 < float(str(each["over"])) <= 1 for each in found)


def test_a_network_whose_input_has_another_name(folder: Path) -> None:
    write(folder / "averages.yaml", AVERAGES)
    answer = australis("query", "pos", "--net", "averages.yaml", "--limit=10")
    assert answer.exit_code == 0, answer.stderr
    found = lines(answer.stdout)
    assert len(found) == 10
    assert {str(each["output"]) for each in found} <= {"high", "low"}
    for each in found:
        inner = each["tuple"]
        assert isinstance(inner, dict)
        assert (inner["mean"] > 50) == (each["output"] == "high")


@pytest.mark.parametrize("name", ["found.csv", "found.jsonl", "found.parquet", "found.csv.gz"])
def test_into_a_file(folder: Path, name: str) -> None:
    answer = australis("query", "pos", "--limit=500", f"--output={name}")
    assert (answer.exit_code, answer.stdout) == (0, "")
    if name.endswith(".parquet"):
        assert pq.read_table(folder / name)["time"].to_pylist() == list(range(500))
    elif not name.endswith(".gz"):
        assert len((folder / name).read_text().splitlines()) == 500 + name.endswith(".csv")
    assert not list(folder.glob(".*part"))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nobody",), 2, "cars: there is no connection point 'nobody'; expected one of pos"),
        (
            ("fast",),
            2,
            "'fast' is an arc, but no connection point; expected one of pos; or `connection_points: {",
        ),
        (
            ("pos", "sped > 80"),
            2,
            "unknown attribute 'sped'; expected one of car, time, speed (perhaps 'speed')",
        ),
        (("pos", "speed +"), 2, "predicates[0]: unexpected end of the text"),
        (("pos", "--map=x=nothing"), 2, "query.map.attributes.x"),
        (("pos", "--map=x"), 2, "--map x: expected NAME=EXPRESSION"),
        (("pos", "--map=x=1", "--map=x=2"), 2, "--map x is given twice"),
        (("pos", "speed > 1", "--net=averages.yaml"), 2, "--net is a whole query"),
        ((), 2, "what is asked?"),
        (("pos", "--list"), 2, "--list is for itself"),
        (("pos", "--output=found.txt"), 1, "its name has no known extension"),
        (("pos", "--net=averages.yaml", "--output=a.csv"), 2, "is one file, but the query has high, low"),
        (("--net=nothing.yaml",), 2, "there is no such file"),
        (("pos", "--name=fast"), 2, "the network already has"),
        (("--name=gone",), 1, "no query 'gone' is attached; attached: none"),
    ],
)
def test_what_is_refused(folder: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    write(folder / "averages.yaml", AVERAGES)
    answer = australis("query", *arguments)
    assert (answer.exit_code, answer.stdout) == (code, "")
    assert said in answer.stderr


# --- coming and going


def test_ctrl_c_ends_a_query_and_takes_it_away(node: Running) -> None:
    with client(node.folder, "query", "pos", "--root=root", "--name=mine") as asking:
        assert asking.stdout is not None
        found = [json.loads(asking.stdout.readline())["time"] for _ in range(5000)]
        with node.control() as control:
            assert set(control.attached()) == {"mine"}
        asking.send_signal(signal.SIGINT)
        rest, said = rest_of(asking)
    assert (asking.returncode, said) == (0, "")
    found += [each["time"] for each in lines(rest)]
    assert found == list(range(len(found)))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_client_that_is_killed_takes_its_query_away(node: Running, number: int) -> None:
    arguments = ("query", "pos", "speed > 200", "--root=root", "--output=never.csv")
    with client(node.folder, *arguments) as asking, node.control() as control:
        until(lambda: set(control.attached()) == {"query1"})
        asking.send_signal(number)
        assert asking.wait(60) == (-9 if number == signal.SIGKILL else 143)
        until(lambda: control.attached() == {})
    assert not (node.folder / "never.csv").exists()


def test_a_reader_that_goes_away(node: Running) -> None:
    """As with `| head -1`."""
    with client(node.folder, "query", "pos", "--root=root") as asking:
        assert asking.stdout is not None
        assert asking.stdout.readline()
        asking.stdout.close()
        assert asking.wait(60) == 1
        assert asking.stderr is not None
        assert "Traceback" not in asking.stderr.read()
    with node.control() as control:
        until(lambda: control.attached() == {})


def test_two_clients_at_once(node: Running) -> None:
    """Each sees all, one of them without taking anything for a while."""
    with client(node.folder, "query", "pos", "speed < 50", "--root=root", "--limit=20000") as one:
        answer = australis("query", "pos", "speed >= 50", "--limit=20000")
        below, said = one.communicate(timeout=100)
    assert (one.returncode, said, answer.exit_code) == (0, "", 0)
    times = {each["time"] for each in lines(below)} | {each["time"] for each in lines(answer.stdout)}
    assert set(range(30_000)) <= times


def test_a_query_that_is_kept_is_read_on(node: Running) -> None:
    answer = australis("query", "pos", "--name=kept", "--keep", "--limit=3000")
    assert answer.stderr == "kept stays attached; `australis query --name kept` continues it\n"
    taken = australis("query", "pos", "--name=kept", "--limit=3000")
    assert (taken.exit_code, "kept: is attached already" in taken.stderr) == (1, True)
    rest = australis("query", "--name=kept", "--no-follow")
    assert rest.exit_code == 0
    read, then = lines(answer.stdout), lines(rest.stdout)
    times = sorted({int(str(each["time"])) for each in [*read, *then]})
    assert times == list(range(len(times)))
    assert json.loads(australis("query", "--list", "--json").stdout) == {
        "kept": {"points": ["pos"], "outputs": ["found"]}
    }
    assert "kept" in australis("query", "--list").stdout
    assert australis("detach", "kept").stdout == "kept is detached\n"
    assert australis("query", "--list").stdout == "No query is attached.\n"
    gone = australis("detach", "kept")
    assert (gone.exit_code, "no query 'kept' is attached" in gone.stderr) == (1, True)


# --- a box as copies


def test_a_box_of_a_run_is_split_by_another_process(node: Running) -> None:
    box = min(json.loads(australis("stats", "--json").stdout)["boxes"])
    assert f"{box} runs as {box}_1, {box}_2: " in australis("split", box).stdout
    assert json.loads(australis("split", box, "--undo", "--json").stdout)["added"] == [box]
    assert australis("split", box, "--undo").stdout == f"{box} is one box already\n"


# --- another network


def test_the_difference_is_shown_and_nothing_done(node: Running, folder: Path) -> None:
    write(folder / "more.yaml", NETWORK.replace("outputs:\n", "outputs:\n  all: {from: pos}\n"))
    answer = australis("deploy", "more.yaml", "--dry-run")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert "+ output all" in answer.stdout
    told = json.loads(australis("deploy", "more.yaml", "--dry-run", "--json").stdout)
    assert (told["applied"], told["outputs_added"], told["lost"]) == (False, ["all"], [])
    with node.control() as control:
        assert "all" not in control.network().outputs


def test_an_invalid_network_alters_nothing(node: Running, folder: Path) -> None:
    write(folder / "wrong.yaml", NETWORK.replace("speed > 80", "sped > 80"))
    answer = australis("deploy", "wrong.yaml")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "cars.fast.predicates[0]: unknown attribute 'sped'" in answer.stderr
    write(folder / "wrong.yaml", NETWORK.replace("speed: double", "speed: int"))
    answer = australis("deploy", "wrong.yaml", "--yes")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "cars.inputs.pos: is (car int not null, time long not null, speed int)" in answer.stderr
    with node.control() as control:
        assert control.network().boxes["fast"].box.predicates == ("speed > 80",)  # type: ignore[attr-defined]


def test_another_network_while_it_runs(node: Running, folder: Path) -> None:
    """The window goes on, and so does the run, though the output has gone that it writes to a file."""
    write(folder / "slow.yaml", NETWORK.replace("fast", "slow").replace("speed > 80", "speed < 10"))
    answer = australis("deploy", "slow.yaml", "--yes")
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout.endswith("cars runs on root now\n")
    assert "+ box slow" in answer.stdout
    assert "1 box continues and keeps its state" in answer.stdout
    with node.control() as control:
        assert set(control.network().outputs) == {"slow", "means"}
        arrived = control.statistics()["log_end"]
        until(lambda: control.statistics()["log_end"] > arrived)
    assert australis("query", "pos", "--limit=1").exit_code == 0
    assert australis("deploy", "cars.yaml", "--yes").exit_code == 0
    written = (folder / "fast.csv").stat().st_size
    until(lambda: (folder / "fast.csv").stat().st_size > written)


# --- on a terminal


def on_terminal(folder: Path, *arguments: str, answer: bytes = b"") -> tuple[int, str]:
    """Call the command line on a terminal, and answer what it asks."""
    mine, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        os.write(mine, answer)
        said = b""
        # The end of what a terminal says is an error.
        with suppress(OSError):
            while more := os.read(mine, 65536):
                said += more
    os.close(mine)
    return process.returncode, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode()).replace("\r\n", "\n")


def test_tuples_on_a_terminal_are_a_table(folder: Path) -> None:
    code, said = on_terminal(
        folder, "query", "pos", "time < 2", "--map=when=time", "--limit=2", "--root=root"
    )
    lines = [line.rstrip() for line in said.splitlines() if line.strip("─ ")]
    assert (code, lines[0]) == (0, "query1 is attached; Ctrl-C ends it")
    assert [line.strip() for line in lines[1:]] == ["when", "0", "1"]


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 1), (b"y\n", 0)])
def test_what_is_lost_is_asked_about_on_a_terminal(
    node: Running, folder: Path, answer: bytes, code: int
) -> None:
    write(folder / "wide.yaml", NETWORK.replace("size: 1000000", "size: 2000000"))
    found, said = on_terminal(folder, "deploy", "wide.yaml", "--root=root", answer=answer)
    assert (found, "! lost: the state of mean" in said, "lose that?" in said) == (code, True, True), said
    with node.control() as control:
        size = control.network().boxes["mean"].box.size  # type: ignore[attr-defined]
        assert size == (1_000_000 if code else 2_000_000)
        control.change(load(folder / "cars.yaml"))


def test_explain_shows_what_runs(node: Running) -> None:
    with client(node.folder, "query", "pos", "speed > 200", "--root=root", "--name=rare") as asking:
        with node.control() as control:
            until(lambda: set(control.attached()) == {"rare"})
        assert "rare.where" in australis("explain", "--root", "root").stdout
        asking.send_signal(signal.SIGINT)
        assert asking.wait(60) == 0
