"""The command as a process of its own: exit codes, interruption, pipes, and what it loads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.app.files import COUNTS, NAMES, NETWORK, REPORTS, write

from australis.app.running.engines import ENGINES

COMMAND = [sys.executable, "-m", "australis.app.cli"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "names.csv", NAMES)
    return tmp_path


def call(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_exit_codes_and_streams(folder: Path) -> None:
    options = (
        "--input=reports=-",
        "--input=names=names.csv",
        "--output=counts=-",
        "--engine=reference",
        "--flush",
    )
    done = call(folder, "run", "net.yaml", *options, stdin=REPORTS)
    assert (done.returncode, done.stdout) == (0, COUNTS)
    assert done.stderr.startswith("soldiers: 10 tuples")
    failed = call(folder, "run", "net.yaml", *options, stdin="sid,time\n")
    assert (failed.returncode, failed.stdout) == (1, "")
    write(folder / "net.yaml", NETWORK.replace("pos >= 30", "pos >"))
    assert call(folder, "check", "net.yaml").returncode == 2


@pytest.mark.usefixtures("heeding_signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing_half(folder: Path, number: int, code: int) -> None:
    """The run hangs on a pipe that stays open, with its output begun, when it is interrupted."""
    write(folder / "counts.csv", "what was there before")
    before = sorted(os.listdir(folder))
    options = (
        "--input=reports=-",
        "--input=names=names.csv",
        "--output=counts=counts.csv",
        "--engine=reference",
    )
    with subprocess.Popen(
        [*COMMAND, "run", "net.yaml", *options],
        cwd=folder,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(REPORTS.encode())
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while sorted(os.listdir(folder)) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert sorted(os.listdir(folder)) != before, "the output was not begun"
        process.send_signal(number)
        assert process.wait(60) == code
        said = process.stderr.read().decode()
    assert sorted(os.listdir(folder)) == before
    assert (folder / "counts.csv").read_text() == "what was there before"
    assert said == "australis: interrupted; no output was written\n"


TIMED = NETWORK.replace("size: 1}", "size: 100, timeout: 200 ms}")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("network", "first"), [(NETWORK, b"1,2\n"), (TIMED, b"1,6\n")], ids=["decided", "due"]
)
def test_a_pipe_is_a_stream(folder: Path, network: str, first: bytes, engine: str) -> None:
    """What the first lines decide comes out, and timeouts fire, while the pipe stays open."""
    write(folder / "net.yaml", network)
    options = ("--input=reports=-", "--input=names=names.csv", "--output=counts=-", f"--engine={engine}")
    with subprocess.Popen(
        [*COMMAND, "run", "net.yaml", *options], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(REPORTS.encode())
        process.stdin.flush()
        assert process.stdout.readline() == b"time,soldiers\n"
        assert process.stdout.readline() == first
        process.stdin.close()
        process.stdout.read()
        assert process.wait(60) == 0


def test_nothing_loads_spark_at_the_start(folder: Path) -> None:
    program = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from australis.app.cli import main\n"
        "for line in ('--help', 'check net.yaml', 'explain net.yaml', 'explain net.yaml --physical',\n"
        "             'run --help', 'stats --help', 'stats .', 'demo --help', 'deploy --help',\n"
        "             'query --help', 'detach --help', 'history --help'):\n"
        "    assert CliRunner().invoke(main, line.split()).exit_code == (line == 'stats .'), line\n"
        "print([name for name in ('pyspark', 'numba') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout == "[]\n"


def test_a_reader_that_goes_away(folder: Path) -> None:
    """As with `| head -1`: no traceback."""
    lines = "".join(f"{n},{n},40\n" for n in range(100_000))
    write(folder / "many.csv", f"sid,time,pos\n{lines}")
    read, write_end = os.pipe()
    options = (
        "--input=reports=many.csv",
        "--input=names=names.csv",
        "--output=counts=-",
        "--engine=kernels",
        "--flush",
    )
    with subprocess.Popen(
        [*COMMAND, "run", "net.yaml", *options], cwd=folder, stdout=write_end, stderr=subprocess.PIPE
    ) as process:
        os.close(write_end)
        os.close(read)
        assert process.stderr is not None
        said = process.stderr.read().decode()
        assert process.wait(60) == 1
    assert "Traceback" not in said
