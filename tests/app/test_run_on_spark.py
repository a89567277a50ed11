"""`australis run` on a node: the same results, roots that go on where they were left, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from tests.app.files import COUNTS, NAMES, NETWORK, REPORTS, australis, listing, write
from tests.app.test_run import BAD_REPORTS, REASONS

from australis.engine.node import Node

pytestmark = pytest.mark.usefixtures("spark")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network and its inputs, where the test is."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "names.csv", NAMES)
    return tmp_path


def run(*options: str, reports: str = "reports.csv", stdin: str | None = None) -> Result:
    inputs = [f"--input=reports={reports}", "--input=names=names.csv"]
    answer = australis("run", "net.yaml", *inputs, *options, stdin=stdin)
    assert "Traceback" not in answer.output
    return answer


def refused(*options: str, code: int, reports: str = "reports.csv") -> str:
    """The message of a run that does not succeed, and leaves nothing behind."""
    before = listing()
    answer = run(*options, reports=reports)
    assert answer.exit_code == code, answer.output
    assert (answer.stdout, listing()) == ("", before)
    return answer.stderr


# --- as on the other engines


@pytest.mark.parametrize("options", [(), ("--discipline=box", "--train=3"), ("--way=spark",)], ids=str)
def test_files_to_files(folder: Path, options: tuple[str, ...]) -> None:
    answer = run("--output=counts=counts.csv", "--output=near=near.jsonl", "--flush", *options)
    assert answer.exit_code == 0, answer.output
    assert (folder / "counts.csv").read_text() == COUNTS
    names = [json.loads(line)["name"] for line in (folder / "near.jsonl").read_text().splitlines()]
    assert names == ["Bea", "Bea"]
    lines = answer.stderr.splitlines()
    assert lines[0].startswith("soldiers: 10 tuples in ")
    assert " s on the spark engine, which started in " in lines[0]
    assert lines[1:3] == ["  in   reports  8", "  in   names    2"]
    assert lines[3].startswith("  out  counts   3  counts.csv  delay p50 ")
    assert answer.stdout == ""


def test_parquet_in_and_out(folder: Path) -> None:
    table = pa.table({"sid": [1, 2, 3], "time": [1, 1, 1], "pos": [34, 12, 31]})
    narrow = table.cast(pa.schema([("sid", pa.int32()), ("time", pa.int64()), ("pos", pa.int32())]))
    pq.write_table(narrow, folder / "r.parquet")
    answer = run("--output=counts=out.parquet", "--flush", reports="r.parquet")
    assert answer.exit_code == 0, answer.output
    assert pq.read_table(folder / "out.parquet").to_pylist() == [{"time": 1, "soldiers": 2}]


def test_standard_input_and_output() -> None:
    answer = run("--output=counts=-", "--flush", reports="-", stdin=REPORTS)
    assert (answer.exit_code, answer.stdout) == (0, COUNTS)


def test_the_quarantine_and_the_summary_as_json(folder: Path) -> None:
    write(folder / "reports.csv", BAD_REPORTS + "1,1,34\n")
    answer = run("--output=counts=counts.csv", "--flush", "--json", "--clock=stopped")
    found = json.loads(answer.stdout)
    assert (found["engine"], found["root"], found["interrupted"], found["waiting"]) == (
        "spark",
        None,
        False,
        0,
    )
    assert found["inputs"]["reports"] == {"tuples": 10, "rejected": 3}
    lost = {"late": 1, "shed": 0, "quarantined": 4, "waiting": 0}
    delivered = round(10 / 13 * 6 / 8, 6)
    assert found["outputs"]["counts"] == {"tuples": 3, "file": "counts.csv", **lost, "fraction": delivered}
    near = {"late": 0, "shed": 0, "quarantined": 3, "waiting": 0, "fraction": round(10 / 13, 6)}
    assert found["outputs"]["near"] == {"tuples": 2, "file": None, **near}
    counted = {"received": 8, "emitted": 3, "late": 1, "ignored": 0, "rejected": 1}
    assert {name: found["boxes"]["count"][name] for name in counted} == counted
    assert found["boxes"]["count"]["cost_us"] > 0
    assert (found["quarantined"], found["reasons"]) == (4, REASONS[:3])
    assert answer.stderr.startswith("\nWARNING: this run lost tuples")


def test_rows_of_a_stored_table_that_do_not_fit(folder: Path) -> None:
    write(folder / "names.csv", NAMES + "three,Cid\n")
    answer = run("--output=quarantine=bad.jsonl")
    assert answer.exit_code == 0, answer.output
    (row,) = (json.loads(line) for line in (folder / "bad.jsonl").read_text().splitlines())
    assert (row["path"], row["reason"]) == (
        "soldiers.names",
        "names.csv, line 4: 'three' in attribute sid is no int",
    )


def test_strict_fails_at_the_first(folder: Path) -> None:
    write(folder / "reports.csv", BAD_REPORTS)
    message = refused("--output=counts=counts.csv", "--strict", code=1)
    assert message == f"australis: {REASONS[0]} (--strict)\n"


def test_tuples_that_a_function_fails_on_go_to_the_quarantine(folder: Path) -> None:
    write(
        folder / "unlucky.py",
        "from australis import register_function\ndef fail(a):\n    raise RuntimeError('out of luck')\n"
        "register_function('unlucky:fail', fail, takes=('int',), returns='boolean')\n",
    )
    write(folder / "net.yaml", NETWORK.replace("pos >= 30", "'`unlucky:fail`(pos)'"))
    answer = run("--functions=unlucky.py", "--output=quarantine=bad.jsonl")
    assert answer.exit_code == 0, answer.output
    rows = [json.loads(line) for line in (folder / "bad.jsonl").read_text().splitlines()]
    found, tuples = {(row["path"], row["reason"]) for row in rows}, [row["tuple"] for row in rows]
    assert {path for path, _ in found} == {"soldiers.across"}
    reason = "`unlucky:fail` failed: RuntimeError: out of luck, given "
    assert {told for _, told in found} == {f"{reason}({row['pos']})" for row in map(json.loads, tuples)}


# --- what only a node can


def test_a_root_goes_on_where_it_was_left(folder: Path) -> None:
    lines = REPORTS.splitlines(keepends=True)
    write(folder / "reports.csv", "".join(lines[:5]))
    first = run("--root=root", "--output=counts=counts.csv")
    assert first.exit_code == 0, first.output
    assert "near     1  kept in the root: no --output names it" in first.stderr
    assert (folder / "counts.csv").read_text() == "time,soldiers\n"
    write(folder / "reports.csv", REPORTS)
    for _ in range(2):
        again = run("--root=root", "--output=counts=counts.csv", "--output=near=near.csv", "--flush")
        assert again.exit_code == 0, again.output
        assert (folder / "counts.csv").read_text() == COUNTS
        assert (folder / "near.csv").read_text().count("Bea") == 2
    assert "soldiers: 0 tuples in" in again.stderr
    other = run("--root=root", "--output=counts=reports2.csv", "--partitions=3", "--discipline=train")
    assert other.exit_code == 0, other.output


def test_another_network_on_the_same_root(folder: Path) -> None:
    assert run("--root=root").exit_code == 0
    write(folder / "net.yaml", NETWORK.replace("pos >= 30", "pos >= 31"))
    assert "expected the same network, or another root; `australis deploy NET --root DIR`" in refused(
        "--root=root", code=1
    )


def test_a_root_keeps_what_was_quarantined(folder: Path) -> None:
    write(folder / "reports.csv", BAD_REPORTS)
    kept = "kept in root, and --output quarantine=FILE writes them"
    assert f"  3 quarantined at reports: {kept}\n" in run("--root=root").stderr
    assert "quarantined" not in run("--root=root").stderr
    assert run("--root=root", "--output=quarantine=bad.jsonl").exit_code == 0
    assert len((folder / "bad.jsonl").read_text().splitlines()) == 4


def test_a_file_of_somebody_else_is_not_written_to(folder: Path) -> None:
    write(folder / "counts.csv", "mine\n")
    answer = run("--root=root", "--output=counts=counts.csv")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "counts.csv: is there already, and this node did not write it" in answer.stderr
    assert (folder / "counts.csv").read_text() == "mine\n"


def test_a_root_in_use(folder: Path) -> None:
    with Node(folder / "root"):
        message = refused("--root=root", code=1)
    assert "is open in another node, process" in message
    assert "expected one node on a root; stop the other" in message


def test_a_folder_of_files_and_a_generator(folder: Path) -> None:
    (folder / "incoming").mkdir()
    lines = REPORTS.splitlines(keepends=True)
    write(folder / "incoming" / "1.csv", "".join(lines[:4]))
    write(folder / "incoming" / "2.csv", lines[0] + "".join(lines[4:]))
    assert run("--output=counts=-", "--flush", reports="incoming").stdout == COUNTS
    drawn = run("--json", "--rate=100000/s", reports="generator:seed=7,tuples=2k,time=serial()")
    assert json.loads(drawn.stdout)["inputs"]["reports"]["tuples"] == 2000


@pytest.mark.parametrize(
    ("options", "reports", "message"),
    [
        (["--rate=fast"], "reports.csv", "rate: 'fast' is no rate; expected tuples per time"),
        (["--rate=5/s", "--speed=2x", "--by=time"], "reports.csv", "both a rate, 5/s, and a speed, 2x"),
        (["--speed=2x"], "reports.csv", "the input reports has not one timestamp, but none: add --by"),
        (["--speed=2x", "--by=tyme"], "reports.csv", "speed: attribute 'tyme' is not there"),
        ([], "generator:tuple=7", "generator: 'tuple=7' is no option"),
        (["--output=counts=c.csv"], "generator:seed=1", "so c.csv would never appear whole: add --root DIR"),
        (["--output=counts=c.csv", "--follow"], "reports.csv", "so c.csv would never appear whole"),
        (["--follow", "--root=root"], "incomming/", "--input reports=incomming/: there is no such folder"),
    ],
)
def test_usage(options: list[str], reports: str, message: str) -> None:
    assert message in refused(*options, code=2, reports=reports)


@pytest.mark.parametrize(
    ("options", "reports", "message"),
    [
        (["--output=counts=no/c.csv"], "reports.csv", "no/c.csv: cannot be written; expected a folder"),
        (["--output=counts=/proc/c.csv"], "reports.csv", "/proc/c.csv: cannot be written: "),
        (["--root=/proc/root"], "reports.csv", "cannot be written: "),
        ([], "/dev/null", "/dev/null: is a device; expected a file, or '-'"),
    ],
)
def test_files_that_cannot_be_used(options: list[str], reports: str, message: str) -> None:
    assert message in refused(*options, code=1, reports=reports)
