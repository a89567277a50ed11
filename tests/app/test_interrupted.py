"""Runs over a root as processes that are ended by signals, and go on with every tuple once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.csv as pc
import pytest
from tests.app.files import NAMES, NETWORK, australis, write
from tests.crash.processes import below, left_of

from australis import loads
from australis.engine.crash_points import LOG_VARIABLE
from australis.engine.sources import Options, parse_generator

DRAWN = "generator:seed=3,sid=key(5),time=serial(),pos=uniform(0,60)"
TUPLES = 100_000
FILES = ("--input=names=names.csv", "--output=counts=counts.csv", "--root=root")


def run(folder: Path, reports: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "australis.app.cli", "run", "net.yaml", f"--input=reports={reports}"]
    return subprocess.Popen([*command, *FILES, *options], cwd=folder, stderr=subprocess.PIPE, text=True)


def until_grown(path: Path, size: int, process: subprocess.Popen[str]) -> None:
    """Wait until a file has more bytes than it had."""
    deadline = time.monotonic() + 200
    while not path.exists() or path.stat().st_size <= size:
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < deadline, "nothing was written"
        time.sleep(0.05)


def expected(folder: Path) -> str:
    """What the kernels make of the same tuples."""
    schema = loads(NETWORK, ".yaml").inputs["reports"].schema
    source = parse_generator("reports", DRAWN, schema, Options())
    batches = (source.batch(number) for number in range(TUPLES))
    with pc.CSVWriter(str(folder / "drawn.csv"), schema.arrow) as file:
        left = TUPLES
        while left:
            table = next(batches).slice(0, left)
            file.write_table(table)
            left -= table.num_rows
    files = ("-i", f"reports={folder / 'drawn.csv'}", "-i", f"names={folder / 'names.csv'}")
    target = folder / "expected.csv"
    answer = australis(
        "run", folder / "net.yaml", *files, "-o", f"counts={target}", "--engine=kernels", "--flush"
    )
    assert answer.exit_code == 0, answer.output
    return target.read_text()


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("heeding_signals")
def test_a_run_that_was_ended_twice_ends_as_if_undisturbed(tmp_path: Path) -> None:
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "names.csv", NAMES)
    written = tmp_path / "counts.csv"

    with run(tmp_path, DRAWN, "--rate=2000/s") as politely:
        until_grown(written, len("time,soldiers\n"), politely)
        politely.send_signal(signal.SIGTERM)
        assert politely.stderr is not None
        said = politely.stderr.read()
    assert politely.returncode == 143, said
    assert "Traceback" not in said
    assert said.endswith(
        "australis: interrupted; everything received is safe in root; run the same command to continue\n"
    )

    with run(tmp_path, DRAWN, "--rate=2000/s") as at_once:
        until_grown(written, written.stat().st_size, at_once)
        at_once.send_signal(signal.SIGINT)
        at_once.send_signal(signal.SIGINT)
        assert at_once.stderr is not None
        said = at_once.stderr.read()
    assert at_once.returncode == 130, said
    assert "Traceback" not in said

    with run(tmp_path, f"{DRAWN},tuples={TUPLES}", "--flush") as last:
        assert last.stderr is not None
        said = last.stderr.read()
    assert last.returncode == 0, said
    assert written.read_text() == expected(tmp_path)


def until_spark(process: subprocess.Popen[str]) -> None:
    """Wait until a process has started the JVM of Spark."""
    deadline = time.monotonic() + 100
    while not any("org.apache.spark.deploy.SparkSubmit" in each.command for each in below(process.pid)):
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < deadline, "no JVM was started"
        time.sleep(0.02)


@pytest.mark.spark
@pytest.mark.usefixtures("heeding_signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("later_s", [0.0, 2.0], ids=["JVM", "Spark"])
def test_a_signal_while_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int, later_s: float
) -> None:
    """It ends at once, with the exit code of the signal, and nothing is left running."""
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "names.csv", NAMES)
    monkeypatch.setenv(LOG_VARIABLE, f"{tmp_path}/reached")
    with run(tmp_path, DRAWN, "--rate=2000/s") as process:
        until_spark(process)
        time.sleep(later_s)
        process.send_signal(number)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == code, said
    assert "Py4J" not in said
    assert "Traceback" not in said
    assert left_of(tmp_path, 30.0) == []
