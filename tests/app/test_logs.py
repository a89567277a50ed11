"""The log of a command: quiet unless it is asked for, text or JSON, above a live display."""

from __future__ import annotations

import io
import json
import logging
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console
from tests.app.files import NAMES, NETWORK, REPORTS, australis, write
from tests.app.test_progress import sample
from tests.engine.in_process import InProcess

from australis.algebra.builder import NetworkBuilder
from australis.app.logs import log_to
from australis.app.showing import ProgressSample, draw_live
from australis.engine.maintain.compaction import RUN_LEAST
from australis.engine.node import Node

COMMAND = [sys.executable, "-m", "australis.app.cli"]
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (DEBUG|INFO|WARNING|ERROR) [\w.]+: .+")
LIGHT = ("--input=reports=reports.csv", "--input=names=names.csv", "--runner=light[1]", "--flush")
log = logging.getLogger("australis.engine.tests")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network and its inputs, where the test is."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "names.csv", NAMES)
    return tmp_path


def run(*options: str) -> subprocess.CompletedProcess[str]:
    """A run in a process of its own, without a JVM."""
    command = [*COMMAND, "run", "net.yaml", *LIGHT, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)


def records(text: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in text.splitlines()]


# --- a run


def test_a_run_is_quiet_unless_asked(folder: Path) -> None:
    done = run("--output=counts=counts.csv", "--json")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_says_what_happens(folder: Path) -> None:
    done = run("--output=counts=counts.csv", "--json", "--root=root", "-v")
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert all(LINE.fullmatch(line) for line in lines), done.stderr
    opened, deployed, stopped = (line.split(" ", 1)[1] for line in lines)
    assert opened.startswith("INFO ledger.open_root: file:///")
    assert opened.endswith("/root is open: 0 runs published, 0 orphans moved to the trash, 0 deleted there")
    assert deployed.startswith("INFO node: soldiers runs: 3 boxes in 1 superboxes, after ")
    assert stopped.startswith("INFO node: the node on file:///")


def test_a_run_tells_programs_of_every_train(folder: Path) -> None:
    done = run("--output=counts=counts.csv", "--json", "-vv", "--log=json", "--log-file=run.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    told = records((folder / "run.jsonl").read_text())
    assert all(list(each) == ["time", "level", "logger", "message"] for each in told)
    trains = [each["message"] for each in told if each["logger"] == "australis.engine.train.loop"]
    assert trains
    assert re.match(r"train of \S+, numbers 0 to \d+: \d+ tuples in", trains[0])


def test_a_compaction_that_always_fails_is_seen(folder: Path) -> None:
    """A segment that nobody reads is damaged, and then there are enough small ones to be made one."""
    net = NetworkBuilder("n")
    net.input("s", "x int").filter("x > 0", as_="above").output("out")
    with log_to(0, "text", "log.txt"), Node("root", runner=InProcess()) as node:
        node.deploy(net.build())
        for number in range(RUN_LEAST + 2):
            node.push("s", pa.table({"x": pa.array([1 + number], pa.int32())}))
            node.drain()
            if number == 0:
                (segment,) = (folder / "root" / "segments").glob("above-*")
                segment.write_bytes(bytes(segment.stat().st_size))
        deadline = time.monotonic() + 60
        while not (folder / "log.txt").read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
    first = (folder / "log.txt").read_text().splitlines()[0]
    assert LINE.fullmatch(first)
    assert " WARNING maintain.upkeep: maintenance of " in first


def test_a_library_is_quiet_unless_asked() -> None:
    program = "import logging\n{}\nimport australis.engine.node as node\nnode._log.error('it failed')"
    for asked, said in (("", ""), ("logging.basicConfig()", "ERROR:australis.engine.node:it failed\n")):
        command = [sys.executable, "-c", program.format(asked)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stderr == said


# --- where it goes


def test_a_log_that_cannot_be_written_is_refused_first(folder: Path) -> None:
    options = ("--root=root", "--output=counts=counts.csv", "--log-file=nowhere/run.log")
    answer = australis("run", "net.yaml", *LIGHT, *options)
    assert answer.exit_code == 2
    assert "--log-file nowhere/run.log: cannot be written: No such file or directory" in answer.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["names.csv", "net.yaml", "reports.csv"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_disk_that_is_full_stops_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with log_to(0, "text", "/dev/full"):
        log.warning("one")
        log.warning("two")
    assert (
        capsys.readouterr().err
        == "australis: the log cannot be written: [Errno 28] No space left on device\n"
    )


def test_options_of_other_commands_that_start_a_node() -> None:
    for command in ("deploy", "detach", "refresh", "demo"):
        assert "--log-file FILE" in australis(command, "--help").stdout


# --- what is in it


def test_an_exception_has_its_traceback(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda failed: None)

    def work() -> None:
        raise KeyError("lost")

    def command() -> None:
        log.info("nobody has asked for that")
        log.warning("%s\nand %d", "Überlauf", 2)
        thread = threading.Thread(target=work, name="mine")
        thread.start()
        thread.join()
        raise ZeroDivisionError("division by zero")

    with pytest.raises(ZeroDivisionError), log_to(0, "json", "log.jsonl"):
        command()
    first, second, third = records((folder / "log.jsonl").read_text())
    assert (first["message"], first["logger"]) == ("Überlauf\nand 2", log.name)
    assert "exception" not in first
    assert (second["message"], second["level"]) == ("the thread mine ended: 'lost'", "ERROR")
    assert second["exception"].startswith("Traceback")
    assert "KeyError: 'lost'" in second["exception"]
    assert third["message"] == "failed: division by zero"
    assert "ZeroDivisionError" in third["exception"]


def test_the_log_ends_with_the_command(folder: Path) -> None:
    for _ in range(2):
        with log_to(2, "text", "log.txt"):
            log.debug("inside")
        log.error("outside")
    assert re.fullmatch(r"(\S+Z DEBUG tests: inside\n){2}", (folder / "log.txt").read_text())
    assert logging.getLogger("australis").level == logging.NOTSET


# --- beside a live display


def test_a_live_display_is_not_torn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line of the log stands above the display, and begins a line of the terminal."""
    terminal = io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    console = Console(file=terminal, force_terminal=True, width=160, color_system=None)
    with log_to(1), draw_live(console, lambda: sample(1.0)):
        for number in range(20):
            log.info("message %d", number)
            time.sleep(0.02)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in shown.split("\n")]
    messages = [line for line in lines if "message" in line]
    assert [line.partition("tests: ")[2] for line in messages] == [f"message {n}" for n in range(20)]
    assert [line for line in messages if not LINE.fullmatch(line)] == []


def test_whoever_holds_a_lock_may_log_while_the_display_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The display asks a node for its statistics while it holds its own lock."""
    terminal, lock, asked = io.StringIO(), threading.Lock(), threading.Event()
    monkeypatch.setattr(sys, "stderr", terminal)
    console = Console(file=terminal, force_terminal=True, width=160)

    def take() -> ProgressSample:
        asked.set()
        with lock:
            return sample(1.0)

    with log_to(1), draw_live(console, take), lock:
        asked.clear()
        assert asked.wait(20)
        log.info("under the lock")
    assert "under the lock" in terminal.getvalue()
