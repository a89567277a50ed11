"""`australis cluster demo`: three services run one network, and what comes out is right; all of them end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.app.files import australis
from tests.waiting import until

from australis.app.demo.sliding.alone import run_alone
from australis.app.demo.sliding.network import network, stream


def test_three_services_run_what_one_node_would() -> None:
    command = [sys.executable, "-m", "australis", "cluster", "demo", "--seconds", "12", "--rate", "5000/s"]
    found = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    told = json.loads(found.stdout)
    assert told["differences"] == [], found.stderr
    assert "The outputs are those of one undisturbed node, in the same order" in found.stderr
    assert told["tuples"] == 60_000
    assert told["outputs"]["nets"] > 30
    assert sorted(box for boxes in told["places"].values() for box in boxes) == sorted(network().boxes)
    # Whether boxes slide within so few seconds depends on the machine; that it is told does not.
    assert found.returncode == (0 if told["moves"] else 1)
    assert bool(told["moves"]) == (" slid from demo/" in found.stderr)


def test_an_interrupt_ends_the_services() -> None:
    command = [sys.executable, "-m", "australis", "cluster", "demo", "--seconds", "600", "--rate", "100/s"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("All boxes begin"):
            break
    children = [
        int(each) for each in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ]
    assert len(children) >= 3
    process.send_signal(signal.SIGINT)
    rest = process.communicate()[0]
    assert process.returncode == 130, rest
    assert "australis: interrupted" in rest
    until(lambda: not any(_runs(each) for each in children))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_rate_that_is_none() -> None:
    answer = australis("cluster", "demo", "--rate", "fast")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "'fast' is no rate" in answer.stderr


def test_something_comes_out_of_each_output(tmp_path: Path) -> None:
    table = stream(0, 7)
    batches = [table.slice(begin, 4_000) for begin in range(0, table.num_rows, 4_000)]
    found = run_alone(network(), batches, tmp_path)
    assert all(each.num_rows for each in found.outputs.values()), found.outputs
    assert found.tuple_us > 0
