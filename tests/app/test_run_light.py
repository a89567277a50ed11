"""`australis run --runner light`: the same results without a JVM, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.app.files import COUNTS, NAMES, NETWORK, REPORTS, australis, listing, write
from tests.app.running import COMMAND
from tests.crash.processes import below
from tests.engine.light.children import ended_within

INPUTS = ("--input=reports=reports.csv", "--input=names=names.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "names.csv", NAMES)
    return tmp_path


def test_files_to_files(folder: Path) -> None:
    outputs = ("--output=counts=counts.csv", "--output=near=near.jsonl")
    answer = australis(
        "run", "net.yaml", *INPUTS, *outputs, "--flush", "--runner=light[2]", "--train=3", "--train-limit=1 h"
    )
    assert answer.exit_code == 0, answer.output
    assert (folder / "counts.csv").read_text() == COUNTS
    near = (folder / "near.jsonl").read_text().splitlines()
    assert [json.loads(line)["name"] for line in near] == ["Bea", "Bea"]
    assert " s on the light engine, which started in " in answer.stderr.splitlines()[0]


def test_a_root_goes_on_where_it_was_left(folder: Path) -> None:
    lines = REPORTS.splitlines(keepends=True)
    options = ("--root=root", "--output=counts=counts.csv", "--runner=light[1]")
    write(folder / "reports.csv", "".join(lines[:5]))
    assert australis("run", "net.yaml", *INPUTS, *options).exit_code == 0
    assert (folder / "counts.csv").read_text() == "time,soldiers\n"
    write(folder / "reports.csv", REPORTS)
    assert australis("run", "net.yaml", *INPUTS, *options, "--flush").exit_code == 0
    assert (folder / "counts.csv").read_text() == COUNTS
    assert not (folder / "root" / "spark.log").exists()


def test_a_function_that_prints_in_a_worker(folder: Path) -> None:
    """In a process of its own: the tuples that it writes to standard output are all that is there."""
    write(
        folder / "mine.py",
        "from australis import register_function\nimport pyarrow.compute as pc\n"
        "def across(pos):\n    print('looking')\n    return pc.greater_equal(pos, 30)\n"
        "register_function('mine:across', across, takes=('int',), returns='boolean')\n",
    )
    write(folder / "net.yaml", NETWORK.replace("pos >= 30", "'`mine:across`(pos)'"))
    options = ("--functions=mine.py", "--output=counts=-", "--flush", "--runner=light", "--clock=stopped")
    done = subprocess.run(
        [*COMMAND, "run", "net.yaml", *INPUTS, *options],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert done.stdout == COUNTS
    assert "looking" in done.stderr


@pytest.mark.usefixtures("heeding_signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_the_whole_group_ends_it_in_order(folder: Path, number: int, code: int) -> None:
    """As a terminal sends Ctrl-C, and a service manager its end: to all processes."""
    made = "--input=reports=generator:seed=3,sid=key(5),time=serial(),pos=uniform(0,60)"
    options = ("--rate=2000/s", "--root=root", "--output=counts=counts.csv", "--runner=light")
    process = subprocess.Popen(
        [*COMMAND, "run", "net.yaml", made, "--input=names=names.csv", *options],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (folder / "counts.csv").exists() or (folder / "counts.csv").stat().st_size < 100:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    children = [each.pid for each in below(process.pid)]
    for pid in (process.pid, *children):
        os.kill(pid, number)
    _, errors = process.communicate(timeout=100)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    assert len(children) >= 2
    assert ended_within(children, 10.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--runner=light", "--master=local[4]"], "--master local[4] is for --runner spark, not for light"),
        (["--runner=light[3]", "--way=spark"], "--way spark is for --runner spark, not for light[3]"),
        (["--runner=light", "--engine=spark"], "--engine spark is for --runner spark, not for light"),
        (["--runner=light", "--engine=kernels"], "--runner is for --engine spark, not for kernels"),
        (["--runner=lite"], "'lite' is no runner: try spark, light or light[4]"),
        (["--train-limit=soon"], "'soon' is not a length of time: try '30 s' or '5 min'"),
        (["--engine=kernels", "--train-limit=5 min"], "--train-limit is for --engine spark, not for kernels"),
    ],
)
def test_what_is_refused_before_anything_begins(options: list[str], message: str) -> None:
    before = listing()
    answer = australis("run", "net.yaml", *INPUTS, "--output=counts=c.csv", *options)
    assert answer.exit_code == 2, answer.output
    assert message in answer.stderr
    assert (answer.stdout, listing()) == ("", before)


def test_a_parquet_output_is_gathered_into_parts(folder: Path) -> None:
    outputs = (
        "--root=root",
        "--output=near=near.parquet",
        "--output=counts=counts.parquet",
        "--runner=light[1]",
    )
    batches = ("--batch=1", "--part-size=1GB", "--part-every=1 h", "--flush")
    answer = australis("run", "net.yaml", *INPUTS, *outputs, *batches)
    assert answer.exit_code == 0, answer.output
    assert pq.read_table(folder / "near.parquet")["name"].to_pylist() == ["Bea", "Bea"]
    assert pq.read_table(folder / "counts.parquet").num_rows == len(COUNTS.splitlines()) - 1
    assert len(os.listdir(folder / "near.parquet")) <= 2, "the first, and the rest"


def test_limits_of_parts_that_nobody_writes_are_refused() -> None:
    for options, option in (
        (("--output=near=near.parquet", "--part-size=1MB"), "--part-size"),
        (("--output=near=near.csv", "--root=root", "--part-every=1 s"), "--part-every"),
    ):
        answer = australis("run", "net.yaml", *INPUTS, "--runner=light", *options)
        assert answer.exit_code == 2
        assert f"{option} is for --output NAME=FOLDER.parquet with --root DIR" in answer.stderr
    answer = australis("run", "net.yaml", *INPUTS, "--part-every=soon")
    assert "'soon' is not a length of time" in answer.stderr


def test_what_waits_for_a_part_makes_room_for_inputs(folder: Path) -> None:
    """Else the run would wait for an hour."""
    write(
        folder / "all.yaml",
        "australis: 1\nname: all\ninputs: {s: {schema: {n: long}}}\n"
        "boxes: {every: {box: filter, from: s, predicates: [n >= 0]}}\noutputs: {out: {from: every}}\n",
    )
    made = "--input=s=generator:seed=3,n=serial(),tuples=60k"
    options = ("--rate=40k/s", "--root=root", "--output=out=out.parquet", "--runner=light[1]")
    answer = australis("run", "all.yaml", made, *options, "--disk=100KB", "--part-every=1 h")
    assert answer.exit_code == 0, answer.output
    assert pq.read_table(folder / "out.parquet")["n"].to_pylist() == [*range(60_000)]
