"""Reading files: batches of exactly the schema, and each row that does not fit with its line and reason."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.schema import Schema, parse_schema
from australis.engine.files import Batch, open_reader
from australis.engine.files import blocks as blocks_module
from australis.errors import EngineError

SOLDIERS = parse_schema("sid int not null, time long, pos int, name string")


def read(path: Path, schema: Schema = SOLDIERS, timezone: str = "UTC") -> Batch:
    """The whole file as one batch."""
    with open_reader(str(path), schema, timezone=timezone) as reader:
        found = list(reader.batches())
    tables = [batch.table for batch in found]
    assert all(table.schema == schema.arrow for table in tables)
    table = pa.concat_tables(tables) if tables else schema.arrow.empty_table()
    return Batch(table, tuple(row for batch in found for row in batch.rejected))


def reasons(batch: Batch) -> list[str]:
    """Why rows are rejected, without the folder of the test."""
    return [re.sub(r"^/\S*/", "", row.reason) for row in batch.rejected]


def refusal(path: Path, schema: Schema = SOLDIERS) -> str:
    with pytest.raises(EngineError) as raised:
        read(path, schema)
    message = str(raised.value)
    assert message.startswith(str(path))
    return message.removeprefix(f"{path}: ")


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def csv_file(tmp_path: Path, content: str | bytes) -> Path:
    return write(tmp_path / "reports.csv", content)


def json_file(tmp_path: Path, content: str | bytes) -> Path:
    return write(tmp_path / "reports.jsonl", content)


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "pos,rank,sid,name,time\n35,private,1,Ann,7\n,,2,,\n")
    assert read(path).table.to_pylist() == [
        {"sid": 1, "time": 7, "pos": 35, "name": "Ann"},
        {"sid": 2, "time": None, "pos": None, "name": None},
    ]
    with open_reader(str(path), SOLDIERS) as reader:
        assert reader.notes == (f"{path}: column 'rank' is not in the schema and is ignored",)


def test_quotes_blanks_marks_and_line_ends(tmp_path: Path) -> None:
    rows = ['1,2,3,"a ""b"", c"', "", '2,3,4,"two\r\nlines"', '3,4," 5 ",""', '4,5,"",6\' 2"', ""]
    text = "\r\n".join(["\ufeffsid, time,pos,name", *rows])
    batch = read(csv_file(tmp_path, text))
    assert batch.table.column("name").to_pylist() == ['a "b", c', "two\r\nlines", "", "6' 2\""]
    assert batch.table.column("pos").to_pylist() == [3, 4, 5, None]
    assert batch.rejected == ()


def test_rows_that_do_not_fit_have_their_line(tmp_path: Path) -> None:
    path = csv_file(
        tmp_path,
        'sid,time,pos,name\n1,1,1,"one\nmore"\n\n2,2,abc,two\n3,3\n4,4,4,4,4\n,5,5,five\n6,99999999999999999999,6,six\n7,7,7,\n',
    )
    batch = read(path)
    assert reasons(batch) == [
        "reports.csv, line 5: 'abc' in attribute pos is no int",
        "reports.csv, line 6: has 2 fields, expected 4",
        "reports.csv, line 7: has 5 fields, expected 4",
        "reports.csv, line 8: 'sid' is NULL, which its schema does not allow",
        "reports.csv, line 9: '99999999999999999999' in attribute time is no long",
    ]
    assert [json.loads(row.tuple) for row in batch.rejected][:2] == [
        {"sid": "2", "time": "2", "pos": "abc", "name": "two"},
        ["3", "3"],
    ]
    assert batch.table.column("sid").to_pylist() == [1, 7]


def test_blocks_are_cut_between_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f'{n},{n},{n},"n {n}\n""{n}"""\n' for n in range(300)]
    rows[250] = "250,250\n"
    rows[270] = "270,270,1,6' 2\"\n"
    path = csv_file(tmp_path, "sid,time,pos,name\n" + "".join(rows))
    monkeypatch.setattr(blocks_module, "BLOCK_BYTES", 137)
    batch = read(path)
    assert reasons(batch) == ["reports.csv, line 502: has 2 fields, expected 4"]
    assert batch.table.column("sid").to_pylist() == [n for n in range(300) if n != 250]
    assert batch.table.column("name")[298].as_py() == 'n 299\n"299"'
    assert batch.table.column("name")[269].as_py() == "6' 2\""


PIECES = ['"', '""', ",", "\n", "\r\n", "\r", "1", "x", " ", "é", "1,x\n", '2,"y"\n', '3,"a\nb"\n']


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.integers(1, 20))
def test_the_cut_into_blocks_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], block_bytes: int
) -> None:
    path = csv_file(tmp_path_factory.mktemp("cut"), "a,b\n" + "".join(pieces))
    schema = parse_schema("a int, b string")
    whole = read(path, schema)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "BLOCK_BYTES", block_bytes)
        pieced = read(path, schema)
    assert pieced.table.to_pylist() == whole.table.to_pylist()
    assert pieced.rejected == whole.rejected


def test_a_quote_that_is_never_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = csv_file(tmp_path, 'sid,time,pos,name\n1,1,1,one\n2,2,2,"two\n' + "3,3,3,three\n" * 100)
    assert reasons(read(path)) == []  # the rest of the file is the name of soldier 2
    monkeypatch.setattr(blocks_module, "BLOCK_BYTES", 100)
    monkeypatch.setattr(blocks_module, "RECORD_BYTES_MAX", 500)
    assert refusal(path).startswith("the record in line 3 does not end within")


def test_a_row_of_another_length_that_is_not_utf8_spoils_no_other(tmp_path: Path) -> None:
    body = b"sid,time,pos,name\n1,1,1,\xc3\xa9\n2,2,2,\xff,x\n\xfe\n3,3,3,\xff\n4,4,4,\n"
    batch = read(csv_file(tmp_path, body))
    assert [(row["sid"], row["name"]) for row in batch.table.to_pylist()] == [(1, "é"), (4, None)]
    assert reasons(batch) == [
        "reports.csv, line 3: has 5 fields, expected 4",
        "reports.csv, line 4: has 1 field, expected 4",
        "reports.csv, line 5: attribute name is not UTF-8",
    ]


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    batch = read(csv_file(tmp_path, b"sid,time,pos,name\n1,1,1,J\xfcrgen\n2,2,2,Zo\xc3\xab\n"))
    assert reasons(batch) == ["reports.csv, line 2: attribute name is not UTF-8"]
    assert json.loads(batch.rejected[0].tuple)["name"] == "J\\xfcrgen"
    assert batch.table.column("name").to_pylist() == ["Zoë"]


def test_a_file_of_one_column_may_hold_nulls(tmp_path: Path) -> None:
    beats = parse_schema("time long")
    assert read(csv_file(tmp_path, "time\n1\n\nx\n3\n"), beats).table.column("time").to_pylist() == [
        1,
        None,
        3,
    ]
    assert reasons(read(csv_file(tmp_path, "time\n1\n\nx\n3\n"), beats)) == [
        "reports.csv, line 4: 'x' in attribute time is no long"
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; expected a header with sid, time, pos, name"),
        (
            b"sid,pos,name\n",
            "the header lacks column 'time': it has sid, pos, name; expected sid, time, pos, name",
        ),
        (
            b"1,2,3,x\n",
            "the header lacks columns 'sid', 'time', 'pos', 'name': it has 1, 2, 3, x; "
            "expected sid, time, pos, name, or format: {csv: {header: false}} for a file without a header",
        ),
        (
            b"sid,time,pos,name,pos\n",
            "the header has column 'pos' more than once; expected each attribute once",
        ),
        (
            b"sid;time;pos;name\n1;2;3;x\n",
            "the header is separated by ';'; expected fields separated by ',', "
            'or format: {csv: {separator: ";"}}',
        ),
        (
            b"sid\ttime\tpos\tname\n",
            "the header is separated by tabs; expected fields separated by ',', "
            'or format: {csv: {separator: "\\t"}}',
        ),
        (b"\xff\xfes\0i\0d\0", "is UTF-16; expected a CSV file in UTF-8"),
        (
            b"PAR1\x15\x04\x00\x00\n",
            "is no text: its first line has a zero byte; expected a CSV file in UTF-8",
        ),
        (b"sid,time,pos,n\xe4me\n", "the header is not UTF-8; expected a CSV file in UTF-8"),
    ],
)
def test_files_that_are_no_csv(tmp_path: Path, content: bytes, message: str) -> None:
    assert refusal(csv_file(tmp_path, content)) == message


def test_only_a_header_is_no_rows(tmp_path: Path) -> None:
    assert read(csv_file(tmp_path, "sid,time,pos,name\n")).table.num_rows == 0
    assert read(csv_file(tmp_path, "sid,time,pos,name")).table.num_rows == 0
    assert read(csv_file(tmp_path, "sid,time,pos,name\n\n\n")).table.num_rows == 0


def test_tabs(tmp_path: Path) -> None:
    path = write(tmp_path / "reports.tsv", "sid\ttime\tpos\tname\n1\t2\t3\ta, b\n")
    assert read(path).table.to_pylist() == [{"sid": 1, "time": 2, "pos": 3, "name": "a, b"}]


def test_no_such_file_a_folder_and_a_name_without_format(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.csv") == "there is no such file"
    assert refusal(tmp_path / "none.parquet") == "there is no such file"
    (tmp_path / "folder.csv").mkdir()
    assert refusal(tmp_path / "folder.csv") == "is a folder; expected a file"
    assert refusal(write(tmp_path / "reports.xlsx", "")).startswith(
        "its name has no known extension; expected .csv"
    )


def test_packed_files(tmp_path: Path) -> None:
    text = b"sid,time,pos,name\n" + b"1,2,3,x\n" * 1000
    path = write(tmp_path / "reports.csv.gz", gzip.compress(text))
    assert read(path).table.num_rows == 1000
    whole = path.read_bytes()
    assert refusal(write(path, whole[: len(whole) // 2])).startswith("is a damaged gzip file: ")
    assert refusal(write(path, whole[:-8] + b"\0\0\0" + whole[-5:])).startswith("is a damaged gzip file: ")
    assert refusal(write(path, text)).startswith("is a damaged gzip file: it does not begin like one")


def test_json_lines(tmp_path: Path) -> None:
    path = json_file(
        tmp_path,
        '\ufeff{"sid": 1, "time": 2, "pos": 3, "name": "x\\ny", "rank": {"deep": [1]}}\r\n\n{"sid": 2}\n',
    )
    batch = read(path)
    assert batch.table.to_pylist() == [
        {"sid": 1, "time": 2, "pos": 3, "name": "x\ny"},
        {"sid": 2, "time": None, "pos": None, "name": None},
    ]
    assert batch.rejected == ()


def test_a_number_in_json_is_no_time(tmp_path: Path) -> None:
    path = json_file(tmp_path, '{"t": 1763359200}\n{"t": "2026-03-01T12:00:00Z"}\n{"t": true}\n')
    with open_reader(str(path), parse_schema("t timestamp")) as reader:
        (batch,) = reader.batches()
    assert reasons(batch) == [
        "reports.jsonl, line 1: 1763359200 in attribute t is a number; expected a timestamp as ISO 8601 text",
        "reports.jsonl, line 3: True in attribute t is no timestamp",
    ]
    assert batch.table.num_rows == 1


@pytest.mark.parametrize("first", ["null", "1", '"x"', "true"])
def test_a_first_line_that_is_no_object_is_rejected_like_any_other(tmp_path: Path, first: str) -> None:
    # Arrow's own reader ends the process where the first value is null.
    batch = read(json_file(tmp_path, f'{first}\n{{"sid": 1}}\n'))
    assert [row["sid"] for row in batch.table.to_pylist()] == [1]
    assert len(batch.rejected) == 1
    assert "no JSON object" in batch.rejected[0].reason


def test_json_lines_that_do_not_fit(tmp_path: Path) -> None:
    good = [f'{{"sid": {n}, "pos": {n}}}\n' for n in range(1000)]
    good[600:609] = [
        '{"sid": 1, "pos": "abc"}\n',
        '{"sid": 1, "pos": 1.5}\n',
        '{"sid": "1"}\n',
        '{"sid": true}\n',
        '{"pos": 1}\n',
        '{"sid": 1, "sid": 2}\n',
        '{"sid": 1, \n',
        "[1, 2]\n",
        '{"sid": 1, "name": {"first": "Ann"}}\n',
    ]
    batch = read(json_file(tmp_path, "".join(good)))
    assert batch.table.num_rows == 991
    assert reasons(batch) == [
        "reports.jsonl, line 601: 'abc' in attribute pos is a string; expected a JSON number",
        "reports.jsonl, line 602: 1.5 in attribute pos is no int",
        "reports.jsonl, line 603: '1' in attribute sid is a string; expected a JSON number",
        "reports.jsonl, line 604: True in attribute sid is no int",
        "reports.jsonl, line 605: 'sid' is NULL, which its schema does not allow",
        "reports.jsonl, line 606: names an attribute twice",
        "reports.jsonl, line 607: is no JSON: Expecting property name enclosed in double quotes: "
        "line 1 column 12 (char 11)",
        "reports.jsonl, line 608: is [1, 2], no JSON object",
        "reports.jsonl, line 609: {'first': 'Ann'} in attribute name is no string",
    ]
    assert batch.rejected[0].tuple == '{"sid": 1, "pos": "abc"}'
    assert batch.rejected[6].tuple == '"{\\"sid\\": 1,"'


def test_one_object_a_line(tmp_path: Path) -> None:
    batch = read(json_file(tmp_path, '{"sid": 1}{"sid": 2}\n{"sid": 3}\n{"sid":\n4}\n'))
    assert batch.table.column("sid").to_pylist() == [3]
    assert [reason.split(":")[0] for reason in reasons(batch)] == [
        "reports.jsonl, line 1",
        "reports.jsonl, line 3",
        "reports.jsonl, line 4",
    ]


def test_json_values_of_every_type(tmp_path: Path) -> None:
    schema = parse_schema("d double, m decimal(10,2), t timestamp, b boolean")
    lines = [
        '{"d": 1, "m": 1.5, "t": "2024-01-31T13:00:00", "b": true}',
        '{"d": "NaN", "m": "2.50", "t": "2024-01-31T12:00:00Z", "b": null}',
    ]
    batch = read(json_file(tmp_path, "\n".join(lines)), schema, "Europe/Berlin")
    assert [str(value) for value in batch.table.column("m").to_pylist()] == ["1.50", "2.50"]
    assert batch.table.column("t").cast(pa.int64()).to_pylist() == [1_706_702_400_000_000] * 2
    assert str(batch.table.column("d").to_pylist()) == "[1.0, nan]"
    assert batch.table.column("b").to_pylist() == [True, None]


def test_a_json_array_is_no_json_lines(tmp_path: Path) -> None:
    assert refusal(json_file(tmp_path, '[\n{"sid": 1}\n]')).startswith("is a JSON array; expected JSON lines")
    assert refusal(json_file(tmp_path, '{"sid": 1}\n'.encode("utf-16"))).startswith("is no text in UTF-8")
    assert read(json_file(tmp_path, "")).table.num_rows == 0


def parquet_file(tmp_path: Path, table: pa.Table) -> Path:
    pq.write_table(table, tmp_path / "reports.parquet")
    return tmp_path / "reports.parquet"


def test_parquet_is_widened_but_never_narrowed(tmp_path: Path) -> None:
    table = pa.table(
        {
            "sid": pa.array([1, None, 3], pa.int16()),
            "time": pa.array([1, 2, 3], pa.uint32()),
            "pos": pa.array([1, 2, 3], pa.int8()),
            "name": pa.array(["a", None, "c"]).dictionary_encode(),
            "rank": pa.array([1, 2, 3]),
        }
    )
    path = parquet_file(tmp_path, table)
    batch = read(path)
    assert batch.table.column("name").to_pylist() == ["a", "c"]
    assert reasons(batch) == ["reports.parquet, row 2: 'sid' is NULL, which its schema does not allow"]
    wide = table.set_column(2, "pos", pa.array([1, 2, 3], pa.int64()))
    assert (
        refusal(parquet_file(tmp_path, wide))
        == "column 'pos' is int64; expected what a int can hold without loss"
    )
    assert refusal(parquet_file(tmp_path, table.drop_columns(["time"]))).startswith(
        "the Parquet file lacks column 'time'"
    )
    assert refusal(write(path, path.read_bytes()[:-20])).startswith("is no Parquet file: ")
    assert refusal(write(path, b"")).startswith("is no Parquet file: ")


@pytest.mark.parametrize(
    ("given", "wanted", "fits"),
    [
        (pa.int32(), "double", True),
        (pa.int64(), "double", False),
        (pa.float32(), "double", True),
        (pa.float64(), "int", False),
        (pa.int32(), "decimal(12,2)", True),
        (pa.int64(), "decimal(12,2)", False),
        (pa.decimal128(8, 2), "decimal(12,4)", True),
        (pa.decimal128(12, 4), "decimal(12,2)", False),
        (pa.timestamp("ns"), "timestamp", True),
        (pa.timestamp("ms", "Asia/Tokyo"), "timestamp", True),
        (pa.int64(), "timestamp", False),
        (pa.large_string(), "string", True),
        (pa.int32(), "string", False),
        (pa.bool_(), "boolean", True),
        (pa.bool_(), "int", False),
        (pa.null(), "int", True),
    ],
)
def test_parquet_types(tmp_path: Path, given: pa.DataType, wanted: str, fits: bool) -> None:
    plain = pa.array(["1", None]) if pa.types.is_decimal(given) else pa.array([1, None])
    values = pa.nulls(2) if given == pa.null() else plain.cast(given)
    path = parquet_file(tmp_path, pa.table({"a": values}))
    schema = parse_schema(f"a {wanted}")
    if not fits:
        assert refusal(path, schema).startswith(f"column 'a' is {given}")
        return
    assert read(path, schema).table.num_rows == 2


def test_parquet_times_without_a_zone_are_local(tmp_path: Path) -> None:
    noon = 1_706_702_400_000_000_123
    schema = parse_schema("t timestamp")
    for zone, expected in ((None, noon // 1000 - 3_600_000_000), ("Asia/Tokyo", noon // 1000)):
        path = parquet_file(tmp_path, pa.table({"t": pa.array([noon]).cast(pa.timestamp("ns", zone))}))
        assert read(path, schema, "Europe/Berlin").table.column("t").cast(pa.int64()).to_pylist() == [
            expected
        ]


def notes_on(path: Path, schema: Schema = SOLDIERS) -> list[str]:
    with open_reader(str(path), schema) as reader:
        for _ in reader.batches():
            pass
        return [note.removeprefix(f"{path}: ") for note in reader.notes]


def test_a_misspelt_field_is_noted_wherever_it_occurs(tmp_path: Path) -> None:
    right = ['{"sid": 1, "time": 1, "pos": 1, "name": "a", "rank": 3}\n'] * 5_000
    wrong = ['{"sid": 1, "time": 1, "posn": 1, "name": "a"}\n'] * 1_000
    path = json_file(tmp_path, "".join([*right, *wrong, *right]))
    assert notes_on(path) == [
        "field 'posn' is not in the schema; did you mean 'pos'?",
        "field 'rank' is not in the schema and is ignored",
    ]


def test_a_field_beside_the_attribute_that_it_resembles_is_no_misspelling(tmp_path: Path) -> None:
    path = json_file(tmp_path, '{"sid": 1, "time": 1, "pos": 1, "pos2": 2, "name": "a"}\n')
    assert notes_on(path) == ["field 'pos2' is not in the schema and is ignored"]
