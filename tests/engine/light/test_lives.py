"""Processes of a light node: they end with it, however it ends, and what is killed of them is made anew."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.crash.processes import below, daemons, workers
from tests.engine.light.children import RIGHT, ended_within, started, until_began

RUN = """
with Node(runner="light[2]") as node:
    node.deploy(network)
    node.push("s", rows)
    node.flush()
    print(answer(node))
"""
LIGHT = """
import json, os
from tests.crash.processes import below
with Node(runner="light") as node:
    node.deploy(network)
    node.push("s", rows)
    node.flush()
    found = answer(node)
    commands = [" ".join(each.command) for each in below(os.getpid())]
loaded = [name for name in ("pyspark", "py4j", "numba", "scipy") if name in sys.modules]
left = [" ".join(each.command) for each in below(os.getpid())]
print(json.dumps({"found": found, "loaded": loaded, "commands": commands, "left": left}))
"""


def test_neither_a_jvm_nor_pyspark(tmp_path: Path) -> None:
    process = started(LIGHT, tmp_path)
    said, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    told = json.loads(said)
    assert told["found"] == RIGHT
    assert told["loaded"] == []
    assert len(told["commands"]) == 2
    assert all("australis.engine.light" in command for command in told["commands"])
    assert told["left"] == []


def test_what_a_function_prints_does_not_get_among_the_output(tmp_path: Path) -> None:
    said, errors = started(RUN, tmp_path).communicate(timeout=100)
    assert said == f"{RIGHT}\n"
    assert errors == "in a worker\n"


@pytest.mark.parametrize("victim", [workers, daemons])
def test_a_train_goes_through_though_a_process_is_killed(
    tmp_path: Path, victim: Callable[[int], list[int]]
) -> None:
    process = started(RUN, tmp_path, seconds=60.0)
    until_began(tmp_path, process)
    (tmp_path / "seconds").write_text("0")
    (pid,) = victim(process.pid)
    os.kill(pid, signal.SIGKILL)
    said, errors = process.communicate(timeout=100)
    assert said == f"{RIGHT}\n", errors
    assert (tmp_path / "began").read_text() == ".."


def test_nothing_is_left_of_a_driver_that_is_killed_in_the_midst_of_a_train(tmp_path: Path) -> None:
    process = started(RUN, tmp_path, seconds=600.0)
    until_began(tmp_path, process)
    children = [each.pid for each in below(process.pid)]
    assert len(children) == 2
    process.kill()
    process.wait()
    assert ended_within(children, 10.0)
    process.communicate()


def test_nothing_is_left_of_a_driver_that_is_killed_before_its_workers_are_there(tmp_path: Path) -> None:
    process = started('node = Node(runner="light")\nprint("made", flush=True)\ntime.sleep(600)', tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "made\n"
    children = daemons(process.pid)
    process.kill()
    process.communicate()
    assert len(children) == 1
    assert ended_within(children, 60.0)


def test_nothing_is_left_of_a_driver_that_has_forked(tmp_path: Path) -> None:
    """What it forked has its sockets, too, and lives longer: that they are open tells nothing."""
    made = 'import os\nnode = Node(runner="light")\nnode.deploy(network)\nnode.push("s", rows)\n'
    process = started(f"{made}print(os.fork(), flush=True)\ntime.sleep(600)", tmp_path)
    assert process.stdout is not None
    forked = max(int(process.stdout.readline()), int(process.stdout.readline()))
    children = daemons(process.pid)
    assert len(children) == 1
    process.kill()
    process.wait()
    try:
        assert ended_within(children, 60.0)
    finally:
        os.kill(forked, signal.SIGKILL)
        process.communicate()


def test_ctrl_c_is_for_the_driver(tmp_path: Path) -> None:
    """A terminal sends it to all processes of the group."""
    process = started(RUN, tmp_path, seconds=600.0)
    until_began(tmp_path, process)
    children = [each.pid for each in below(process.pid)]
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert ended_within(children, 10.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_workers_end_by_no_signal_that_others_are_meant_to_hear(tmp_path: Path, number: int) -> None:
    process = started(RUN, tmp_path, seconds=1.0)
    until_began(tmp_path, process)
    for each in below(process.pid):
        os.kill(each.pid, number)
    said, errors = process.communicate(timeout=100)
    assert said == f"{RIGHT}\n", errors
    assert (tmp_path / "began").read_text() == "."


def test_a_node_that_stops_at_once_waits_for_no_train(tmp_path: Path) -> None:
    code = """
import os
node = Node(runner="light")
node.deploy(network)
node.push("s", rows)
while not os.path.exists("FOLDER/began"):
    time.sleep(0.01)
began = time.monotonic()
node.stop(now=True)
print(time.monotonic() - began < 20)
"""
    process = started(code.replace("FOLDER", str(tmp_path)), tmp_path, seconds=60.0)
    said, errors = process.communicate(timeout=50)
    assert (said, errors) == ("True\n", "in a worker\n")
