"""`australis run` in this process: files in, files out; every mistake has a message that helps."""

from __future__ import annotations

import bz2
import errno
import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from tests.app.files import COUNTS, NAMES, NETWORK, REPORTS, australis, listing, write

from australis.app.running.engines import ENGINES


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network and its inputs, where the test is."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "net.yaml", NETWORK)
    write(tmp_path / "reports.csv", REPORTS)
    write(tmp_path / "names.csv", NAMES)
    return tmp_path


def run(
    *options: str, reports: str = "reports.csv", names: str = "names.csv", stdin: str | None = None
) -> Result:
    inputs = [f"--input=reports={reports}", f"--input=names={names}"]
    answer = australis("run", "net.yaml", "--engine=kernels", *inputs, *options, stdin=stdin)
    assert "Traceback" not in answer.output
    return answer


def refused(*options: str, code: int, reports: str = "reports.csv", names: str = "names.csv") -> str:
    """The message of a run that does not succeed, and leaves nothing behind."""
    before = listing()
    answer = run(*options, reports=reports, names=names)
    assert answer.exit_code == code, answer.output
    assert answer.stdout == ""
    assert listing() == before
    return answer.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_files_to_files(engine: str, folder: Path) -> None:
    answer = run("--output=counts=counts.csv", "--output=near=near.jsonl", "--flush", f"--engine={engine}")
    assert answer.exit_code == 0, answer.output
    assert (folder / "counts.csv").read_text() == COUNTS
    assert [json.loads(line)["name"] for line in (folder / "near.jsonl").read_text().splitlines()] == [
        "Bea",
        "Bea",
    ]
    lines = answer.stderr.splitlines()
    assert lines[0].startswith("soldiers: 10 tuples in ")
    assert lines[0].endswith(f" s on the {engine} engine")
    assert lines[1:] == [
        "  in   reports  8",
        "  in   names    2",
        "  out  counts   3  counts.csv",
        "  out  near     2  near.jsonl",
    ]
    assert answer.stdout == ""


def test_one_tuple_is_no_plural(folder: Path) -> None:
    write(folder / "reports.csv", "".join(REPORTS.splitlines(keepends=True)[:2]))
    write(folder / "names.csv", NAMES.splitlines(keepends=True)[0])
    assert run("--engine=kernels").stderr.startswith("soldiers: 1 tuple in ")


def test_without_flush_only_what_is_decided(folder: Path) -> None:
    answer = run("--output=counts=counts.csv")
    assert (folder / "counts.csv").read_text() == "".join(COUNTS.splitlines(keepends=True)[:3])
    assert "--flush closes them at the end" in answer.stderr
    assert "near     2  not written: no --output names it" in answer.stderr


@pytest.mark.parametrize("batch", [1, 3, 1000])
def test_the_cut_into_batches_changes_nothing_here(batch: int, folder: Path) -> None:
    run("--output=counts=counts.csv", "--flush", f"--batch={batch}")
    assert (folder / "counts.csv").read_text() == COUNTS


def test_every_format_in_and_out(folder: Path) -> None:
    table = pa.table({"sid": [1, 2, 3], "time": [1, 1, 1], "pos": [34, 12, 31]})
    narrow = table.cast(pa.schema([("sid", pa.int32()), ("time", pa.int64()), ("pos", pa.int32())]))
    pq.write_table(narrow, folder / "r.parquet")
    write(folder / "r.tsv", "sid\ttime\tpos\n1\t1\t34\n2\t1\t12\n3\t1\t31\n")
    write(folder / "r.ndjson", "".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    write(folder / "r.csv.gz", gzip.compress(b"sid,time,pos\n1,1,34\n2,1,12\n3,1,31\n"))
    for name in ("r.parquet", "r.tsv", "r.ndjson", "r.csv.gz"):
        for target in ("out.csv.gz", "out.parquet", "out.tsv"):
            answer = run(f"--output=counts={target}", "--flush", reports=name)
            assert answer.exit_code == 0, answer.output
    assert gzip.decompress((folder / "out.csv.gz").read_bytes()) == b"time,soldiers\n1,2\n"
    assert pq.read_table(folder / "out.parquet").to_pylist() == [{"time": 1, "soldiers": 2}]
    assert (folder / "out.tsv").read_text() == "time\tsoldiers\n1\t2\n"


def test_standard_input_and_output() -> None:
    answer = run("--output=counts=-", "--flush", reports="-", stdin=REPORTS)
    assert (answer.exit_code, answer.stdout) == (0, COUNTS)
    lines = '{"sid": 1, "time": 1, "pos": 31}\n{"sid": 2, "time": 1, "pos": 32}\n'
    answer = run("--output=counts=-", "--flush", "--format=jsonl", reports="-", stdin=lines)
    assert (answer.exit_code, answer.stdout) == (0, '{"time":1,"soldiers":2}\n')


BAD_REPORTS = REPORTS + "9,abc,40\n9,4\n,4,40\n9,,40\n"
REASONS = [
    "soldiers.reports: reports.csv, line 10: 'abc' in attribute time is no long",
    "soldiers.reports: reports.csv, line 11: has 2 fields, expected 3",
    "soldiers.reports: reports.csv, line 12: 'sid' is NULL, which its schema does not allow",
    "soldiers.count: 'time' is NULL, which has no place in an order",
]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_quarantine(engine: str, folder: Path) -> None:
    write(folder / "reports.csv", BAD_REPORTS)
    answer = run(
        "--output=counts=counts.csv", "--output=quarantine=bad.jsonl", "--flush", f"--engine={engine}"
    )
    assert answer.exit_code == 0, answer.output
    assert (folder / "counts.csv").read_text() == COUNTS
    bad = [json.loads(line) for line in (folder / "bad.jsonl").read_text().splitlines()]
    assert [f"{row['path']}: {row['reason']}" for row in bad] == REASONS
    assert json.loads(bad[0]["tuple"]) == {"sid": "9", "time": "abc", "pos": "40"}
    assert json.loads(bad[3]["tuple"]) == {"sid": 9, "time": None, "pos": 40}
    assert "out  quarantine  4  bad.jsonl" in answer.stderr


def test_what_is_quarantined_is_said_if_nobody_asks(folder: Path) -> None:
    write(folder / "reports.csv", BAD_REPORTS)
    answer = run("--output=counts=counts.csv", "--flush")
    assert answer.exit_code == 0
    assert "  3 quarantined at reports: --output quarantine=FILE keeps them\n" in answer.stderr
    assert "  1 quarantined at count: --output quarantine=FILE keeps them\n" in answer.stderr
    assert "\n".join(f"    {reason}" for reason in REASONS[:3]) + "\n    ... and 1 more\n" in answer.stderr


def test_strict_fails_at_the_first(folder: Path) -> None:
    write(folder / "reports.csv", BAD_REPORTS)
    message = refused("--output=counts=counts.csv", "--strict", code=1)
    assert message == f"australis: {REASONS[0]} (--strict)\n"


def test_strict_also_for_what_a_box_refuses(folder: Path) -> None:
    write(folder / "reports.csv", REPORTS + "9,,40\n")
    assert (
        refused("--output=counts=counts.csv", "--strict", code=1) == f"australis: {REASONS[3]} (--strict)\n"
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_the_summary_as_json(engine: str, folder: Path) -> None:
    write(folder / "reports.csv", BAD_REPORTS + "1,1,34\n")
    answer = run("--output=counts=counts.csv", "--flush", "--json", f"--engine={engine}")
    found = json.loads(answer.stdout)
    assert found["network"] == "soldiers"
    assert found["engine"] == engine
    assert found["inputs"] == {
        "reports": {"tuples": 10, "rejected": 3},
        "names": {"tuples": 2, "rejected": 0},
    }
    lost = {"late": 1, "shed": 0, "quarantined": 4}
    delivered = round(10 / 13 * 6 / 8, 6)
    assert found["outputs"]["counts"] == {"tuples": 3, "file": "counts.csv", **lost, "fraction": delivered}
    near = {"late": 0, "shed": 0, "quarantined": 3, "fraction": round(10 / 13, 6)}
    assert found["outputs"]["near"] == {"tuples": 2, "file": None, **near}
    counted = {"received": 8, "emitted": 3, "late": 1, "ignored": 0, "rejected": 1}
    assert found["boxes"]["count"] == counted
    assert found["lost"] == {"late": {"count": 1}, "shed": {}, "quarantined": {"reports": 3, "count": 1}}
    assert (found["quarantined"], found["reasons"]) == (4, REASONS[:3])
    assert answer.stderr.startswith(
        "\nWARNING: this run lost tuples, so its results are incomplete: 1 late, "
    )


def test_late_tuples_are_counted(folder: Path) -> None:
    write(folder / "reports.csv", REPORTS + "7,1,40\n")
    answer = run("--flush")
    assert answer.exit_code == 0
    said = answer.stderr.splitlines()
    assert said[-7:] == [
        "  output  tuples  late  quarantined  delivered",
        "  counts       3     1            0      85.7%",
        "  near         2     0            0     100.0%",
        "",
        "WARNING: this run lost tuples, so its results are incomplete: 1 late",
        "  output counts: 85.7% delivered, 1 late",
        "  1 late at count: it came later than its order admits: raise its slack, or its input's",
    ]


def test_strict_also_for_late_tuples(folder: Path) -> None:
    write(folder / "reports.csv", REPORTS + "7,1,40\n")
    message = refused("--output=counts=counts.csv", "--flush", "--strict", code=1)
    assert message.startswith(
        "australis: this run lost tuples, so its results are incomplete: 1 late (--strict)\n"
    )
    assert "  1 late at count: it came later than its order admits" in message


def test_columns_that_nobody_asked_for_are_a_note(folder: Path) -> None:
    write(folder / "reports.csv", "sid,time,pos,rank\n1,1,31,private\n")
    assert "  note: reports.csv: column 'rank' is not in the schema and is ignored\n" in run("--flush").stderr


def test_attributes_that_nobody_asked_for_are_a_note(folder: Path) -> None:
    write(folder / "r.jsonl", '{"sid": 1, "time": 1, "pos": 31, "rank": "private"}\n')
    note = "  note: r.jsonl: field 'rank' is not in the schema and is ignored\n"
    assert note in run("--flush", reports="r.jsonl").stderr


@pytest.mark.parametrize("engine", ["kernels", "reference"])
def test_folders_and_generators_are_inputs_of_every_engine(folder: Path, engine: str) -> None:
    incoming = folder / "incoming"
    incoming.mkdir()
    head, *rows = REPORTS.splitlines()
    write(incoming / "a.csv", "\n".join([head, *rows[:3]]))
    write(incoming / "b.csv.bz2", bz2.compress("\n".join([head, *rows[3:]]).encode()))
    answer = run(f"--engine={engine}", "--flush", "--output=counts=-", reports="incoming")
    assert answer.stdout == COUNTS
    drawn = "generator:seed=7,tuples=300,sid=key(2),time=serial(),pos=uniform(0,60)"
    answer = run(f"--engine={engine}", "--json", "--flush", reports=drawn)
    told = json.loads(answer.stdout)
    assert told["inputs"]["reports"]["tuples"] == 300
    assert 100 < told["outputs"]["counts"]["tuples"] < 200


def test_a_generator_without_an_end_needs_a_node() -> None:
    for drawn, message in {
        "generator:seed=1": "has no end, which only a node can run; expected tuples=N in it, or leave out",
        "generator:tuples=5,rate=9/s": "has a rate, which only a node keeps; expected step=... for its times",
        "generator:tuple=5": "'tuple=5' is no option",
    }.items():
        assert message in refused(code=2, reports=drawn)


def test_a_format_says_what_the_name_does_not(folder: Path) -> None:
    rows = [line.split(",") for line in REPORTS.splitlines()[1:]]
    write(folder / "r.txt", "".join(f" {time}  {sid}\t-   {pos}\n" for sid, time, pos in rows))
    said = "reports={csv: {header: false, separator: blanks, columns: [time, sid, x, pos]}}"
    answer = run("--input-format", said, "--flush", "--output=counts=-", reports="r.txt")
    assert answer.stdout == COUNTS
    before = "{schema: {sid: int not null, time: long"
    inside = f"{{format: {said.removeprefix('reports=')}, {before.removeprefix('{')}"
    write(folder / "net.yaml", NETWORK.replace(before, inside))
    assert run("--flush", "--output=counts=-", reports="r.txt").stdout == COUNTS
    other = 'reports={csv: {header: false, separator: "|", columns: [sid, time, pos]}}'
    write(folder / "r.txt", "".join("|".join(row) + "\n" for row in rows))
    assert run("--input-format", other, "--flush", "--output=counts=-", reports="r.txt").stdout == COUNTS


def test_devices_are_no_inputs() -> None:
    assert "/dev/null: is a device; expected a file, or '-'" in refused(code=1, reports="/dev/null")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--input=reports"], "--input reports: expected NAME=FILE"),
        (["--input=raports=x.csv"], "there is no input 'raports'; there is reports, names"),
        (["--input=reports=x.csv"], "--input reports is given twice: reports.csv and x.csv"),
        (["--output=count=x.csv"], "there is no output 'count'; there is counts, near, quarantine"),
        (["--output=counts=x.csv", "--output=near=x.csv"], "x.csv stands for more than one output"),
        (["--output=counts=reports.csv"], "reports.csv is an input and cannot be an output, too"),
        (["--output=counts=./reports.csv"], "./reports.csv is an input and cannot be an output, too"),
        (["--output=counts=x.csv", "--output=near=./x.csv"], "./x.csv stands for more than one output"),
        (["--output=counts=-", "--json"], "--json prints to standard output"),
        (["--batch=0"], "Invalid value for '--batch'"),
        (["--engine=flink"], "Invalid value for '--engine'"),
        (["--root=here"], "--root is for --engine spark, not for kernels"),
        (["--engine=reference", "--rate=1/s"], "--rate is for --engine spark, not for reference"),
        (["--input-format=reports"], "--input-format reports: expected NAME=FORMAT"),
        (["--input-format=raports=csv"], "there is no input 'raports'; there is reports, names"),
        (["--input-format=reports=xls"], "is 'xls'; expected one of csv, zeek, jsonl, parquet"),
        (["--input-format=reports=csv", "--input-format=reports=csv"], "reports is given twice"),
        (["--input-format=reports={csv: {headr: no}}"], "csv.headr: unknown option (perhaps 'header')"),
        (
            ["--input-format=reports={csv: {header: false, columns: [sid, time]}}"],
            "csv.columns: lacks the attribute pos",
        ),
    ],
)
def test_usage(options: list[str], message: str) -> None:
    assert message in refused(*options, code=2)


def test_a_file_may_be_read_twice_but_no_stream(folder: Path) -> None:
    write(folder / "both.csv", "sid,time,pos,name\n1,1,34,Ann\n2,1,12,Bea\n")
    assert run("--output=near=near.csv", "--flush", reports="both.csv", names="both.csv").exit_code == 0
    assert "Bea" in (folder / "near.csv").read_text()
    os.mkfifo(folder / "pipe")
    for stream in ("-", "pipe"):
        said = refused(code=2, reports=stream, names=stream)
        assert f"{stream} stands for more than one input" in said


def test_a_link_to_an_input_is_no_output(folder: Path) -> None:
    (folder / "soft.csv").symlink_to("reports.csv")
    (folder / "hard.csv").hardlink_to(folder / "reports.csv")
    for name in ("soft.csv", "hard.csv"):
        message = refused(f"--output=counts={name}", code=2)
        assert f"{name} is an input and cannot be an output, too" in message
    assert (folder / "reports.csv").read_text() == REPORTS


def test_every_input_needs_a_file() -> None:
    answer = australis("run", "net.yaml", "--input=reports=reports.csv")
    assert answer.exit_code == 2
    assert "no file for names: add --input names=FILE" in answer.stderr


def test_a_bad_network_is_refused(folder: Path) -> None:
    write(folder / "net.yaml", NETWORK.replace("pos >= 30", "pos + 30"))
    assert "soldiers.across.predicates[0]: the predicate is a int; expected a boolean" in refused(code=2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "missing.csv: is empty; expected a header with sid, time, pos"),
        (
            b"sid,pos\n1,2\n",
            "missing.csv: the header lacks column 'time': it has sid, pos; expected sid, time, pos",
        ),
        (b"\x89PNG\r\n\x1a\n\0\0", "missing.csv: the header is not UTF-8"),
    ],
)
def test_inputs_that_cannot_be_read(folder: Path, content: bytes, message: str) -> None:
    write(folder / "missing.csv", content)
    assert message in refused("--output=counts=counts.csv", code=1, reports="missing.csv")


@pytest.mark.parametrize(
    ("reports", "kind"), [("missing.csv", "file"), ("missing.csv/", "folder"), ("missing", "folder")]
)
def test_an_input_that_is_not_there_is_an_error_of_usage(folder: Path, reports: str, kind: str) -> None:
    said = refused("--output=counts=counts.csv", code=2, reports=reports)
    assert f"--input reports={reports}: there is no such {kind}" in said


def test_a_gzip_file_that_breaks_in_the_middle(folder: Path) -> None:
    packed = gzip.compress(b"sid,time,pos\n" + b"".join(b"%d,%d,%d\n" % (n, n, n) for n in range(50_000)))
    write(folder / "r.csv.gz", packed[: len(packed) // 2])
    assert "r.csv.gz: is a damaged gzip file: " in refused(
        "--output=counts=c.csv", code=1, reports="r.csv.gz"
    )


def test_a_parquet_file_of_the_wrong_type(folder: Path) -> None:
    pq.write_table(pa.table({"sid": [1], "time": [1], "pos": ["30"]}), folder / "r.parquet")
    message = refused("--output=counts=c.csv", code=1, reports="r.parquet")
    assert "r.parquet: column 'sid' is int64; expected what a int can hold without loss" in message


def test_marks_and_line_ends_of_other_systems(folder: Path) -> None:
    write(folder / "reports.csv", "\ufeff" + REPORTS.replace("\n", "\r\n"))
    run("--output=counts=counts.csv", "--flush")
    assert (folder / "counts.csv").read_text() == COUNTS


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device that is always full is Linux's")
def test_a_full_disk(folder: Path) -> None:
    (folder / "full.csv").symlink_to("/dev/full")
    message = refused("--output=counts=full.csv", "--output=near=near.csv", code=1)
    assert message == "australis: full.csv: cannot be written: No space left on device\n"


def test_outputs_get_their_names_together_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second output cannot be brought to the disk, so the first does not appear either."""
    synced: list[int] = []

    def full(descriptor: int) -> None:
        synced.append(descriptor)
        if len(synced) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    message = refused("--output=counts=counts.csv", "--output=near=near.csv", code=1)
    assert message == "australis: near.csv: cannot be written: No space left on device\n"


def test_a_folder_that_cannot_be_written() -> None:
    message = refused("--output=counts=/proc/counts.csv", code=1)
    assert message.startswith("australis: /proc/counts.csv: cannot be written: ")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_failing_function_is_no_traceback(folder: Path, engine: str) -> None:
    write(
        folder / "failing.py",
        "from australis import register_function\ndef fail(a):\n    raise RuntimeError('out of luck')\n"
        "register_function('failing:fail', fail, takes=('int',), returns='boolean')\n",
    )
    write(folder / "net.yaml", NETWORK.replace("pos >= 30", "'`failing:fail`(pos)'"))
    message = refused("--functions=failing.py", "--output=counts=c.csv", f"--engine={engine}", code=1)
    assert (
        message
        == "australis: soldiers.across: `failing:fail` failed: RuntimeError: out of luck, given (34)\n"
    )


def test_the_clock_decides_on_timeouts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window of the first batch times out when the wall clock has gone on far enough by the second."""
    write(folder / "net.yaml", NETWORK.replace("size: 1}", "size: 100, timeout: 1 min}"))
    moments = iter(range(10**15, 10**18, 10**14))
    monkeypatch.setattr("australis.app.commands.run.wall_clock", lambda: next(moments))
    run("--output=counts=wall.csv", "--batch=4")
    run("--output=counts=stopped.csv", "--batch=4", "--clock=stopped")
    assert (folder / "wall.csv").read_text() == "time,soldiers\n1,3\n"
    assert (folder / "stopped.csv").read_text() == "time,soldiers\n"
