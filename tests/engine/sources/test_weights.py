"""Every kind of source may leave out the weight of its input, and one that gives it is heard."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from australis.algebra.network import Input
from australis.algebra.schema import Schema, parse_schema
from australis.algebra.store import FileFormat, file_format_of
from australis.app.cli import main
from australis.engine.files import open_reader
from australis.engine.kafka.avro import record_of
from australis.engine.sources import Options, parse_source
from australis.engine.sources.files.adopting import adoptable_rows
from australis.engine.sources.generator import GeneratorSource
from australis.engine.sources.mqtt.payloads import Decoding
from australis.errors import EngineError

GIVEN = Input(parse_schema("n long not null, copies double not null, host string"), weight="copies")
SCHEMA = GIVEN.arriving
ZEEK = "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tx\n"


def read(
    path: Path, text: str | None = None, schema: Schema = SCHEMA, format: FileFormat | None = None
) -> pa.Table:
    """The tuples of a file, all of which fit."""
    if text is not None:
        path.write_text(text)
    with open_reader(str(path), schema, format=format) as reader:
        batches = list(reader.batches())
    assert not any(batch.rejected for batch in batches)
    return pa.concat_tables(batch.table for batch in batches)


def weights(table: pa.Table) -> list[float | None]:
    assert table["n"].to_pylist() == [1, 2]
    found: list[float | None] = table["copies"].to_pylist()
    return found


CASES = {
    "csv": ("host,n\na,1\nb,2\n", "host,copies,n\na,5,1\nb,,2\n"),
    "jsonl": ('{"n": 1}\n{"n": 2, "host": "b"}\n', '{"n": 1, "copies": 5}\n{"n": 2, "copies": null}\n'),
    "log": (
        ZEEK + "#fields\tn\thost\n#types\tcount\tstring\n1\ta\n2\tb\n",
        ZEEK + "#fields\tcopies\tn\thost\n#types\tdouble\tcount\tstring\n5\t1\ta\n-\t2\tb\n",
    ),
}


@pytest.mark.parametrize("ending", CASES)
def test_text_files(tmp_path: Path, ending: str) -> None:
    without, with_it = CASES[ending]
    assert weights(read(tmp_path / f"a.{ending}", without)) == [None, None]
    assert weights(read(tmp_path / f"b.{ending}", with_it)) == [5.0, None]


def test_other_columns_are_still_missed(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="the header lacks column 'n'"):
        read(tmp_path / "a.csv", "copies,host\n1,a\n")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"n,host\n1,a\n2,\xff\n")
    with open_reader(str(tmp_path / "a.csv"), SCHEMA) as reader:
        (batch,) = reader.batches()
    assert batch.table.to_pylist() == [{"n": 1, "copies": None, "host": "a"}]
    assert len(batch.rejected) == 1


def test_a_file_without_a_header_has_it_only_if_its_columns_say_so(tmp_path: Path) -> None:
    plain = file_format_of({"csv": {"header": False}})
    named = file_format_of({"csv": {"header": False, "columns": ["copies", "host", "n"]}})
    assert weights(read(tmp_path / "a.csv", "1,a\n2,b\n", format=plain)) == [None, None]
    assert weights(read(tmp_path / "b.csv", "5,a,1\n6,b,2\n", format=named)) == [5.0, 6.0]


def test_parquet(tmp_path: Path) -> None:
    table = pa.table({"host": ["a", "b"], "n": pa.array([1, 2], pa.int64())})
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.append_column("copies", pa.array([5, None], pa.int32())), tmp_path / "b.parquet")
    assert weights(read(tmp_path / "a.parquet")) == [None, None]
    assert weights(read(tmp_path / "b.parquet")) == [5.0, None]


def test_parquet_becomes_a_segment_only_with_all_weights(tmp_path: Path) -> None:
    table = pa.table({"host": ["a", "b"], "n": pa.array([1, 2], pa.int64())})
    found = []
    for name, given in {"a": None, "b": [5.0, None], "c": [5.0, 6.0]}.items():
        path = tmp_path / f"{name}.parquet"
        pq.write_table(table if given is None else table.append_column("copies", pa.array(given)), path)
        found.append(adoptable_rows(str(path), SCHEMA))
    assert found == [None, None, 2]


def test_generators_draw_it_only_if_they_are_told_to() -> None:
    plain = parse_source("x", "generator:seed=1,tuples=2", SCHEMA)
    drawn = parse_source("x", "generator:seed=1,tuples=2,copies=uniform(5, 6)", SCHEMA)
    assert isinstance(plain, GeneratorSource)
    assert isinstance(drawn, GeneratorSource)
    assert plain.batch(0).column_names == ["n", "host"]
    assert drawn.batch(0).column_names == ["n", "copies", "host"]


def test_ticks() -> None:
    beats = Input(parse_schema("at timestamp, copies double not null"), weight="copies").arriving
    assert parse_source("x", "ticks:every=1 s", beats).is_endless


class Payload:
    """A message."""

    topic = "t"

    def __init__(self, payload: bytes) -> None:
        self.payload = payload


def test_mqtt() -> None:
    objects = [Payload(b'{"n": 1}'), Payload(b'{"n": 2, "copies": 5}')]
    assert weights(Decoding(SCHEMA, "json", "UTC").batch(objects).table) == [None, 5.0]
    source = parse_source("x", "mqtt://broker/?topic=t&id=a&format=csv", SCHEMA, Options())
    batch = source.decoding.batch([Payload(b"1,a"), Payload(b"2,b")])  # type: ignore[attr-defined]
    assert (batch.table.num_rows, batch.rejected) == (2, ())


def test_the_avro_record_of_an_input_has_it_as_outputs_of_other_nodes_have() -> None:
    assert record_of(SCHEMA) == record_of(GIVEN.schema)


# --- through the command line

NETWORK = """
australis: 1
name: flows
inputs:
  flows: {schema: {n: long not null, copies: double not null, host: string}, weight: copies}
boxes:
  sums:
    {box: aggregate, from: flows, functions: {used: count(*), came: sum(copies)}, order: {on: n}, size: 100}
outputs:
  sums: {from: sums}
"""


@pytest.mark.parametrize("engine", ["node", "kernels", "reference"])
@pytest.mark.parametrize("source", ["csv", "parquet", "generator"])
def test_runs_over_files(tmp_path: Path, engine: str, source: str) -> None:
    (tmp_path / "flows.yaml").write_text(NETWORK)
    table = pa.table({"n": pa.array([1, 2], pa.int64()), "host": ["a", "b"]})
    pq.write_table(table, tmp_path / "flows.parquet")
    (tmp_path / "flows.csv").write_text("n,host\n1,a\n2,b\n")
    text = "generator:tuples=2,n=serial()" if source == "generator" else str(tmp_path / f"flows.{source}")
    how = ["--runner", "light"] if engine == "node" else ["--engine", engine]
    given = ["run", str(tmp_path / "flows.yaml"), *how, "--flush"]
    out = tmp_path / "sums.csv"
    done = CliRunner().invoke(main, [*given, "--input", f"flows={text}", "--output", f"sums={out}"])
    assert done.exit_code == 0, done.output
    assert out.read_text().splitlines()[1].endswith(",2,2")


def test_check_with_a_sample_and_a_rate(tmp_path: Path) -> None:
    (tmp_path / "flows.yaml").write_text(NETWORK)
    (tmp_path / "flows.csv").write_text("n,host\n" + "".join(f"{n},a\n" for n in range(500)))
    for source in (str(tmp_path / "flows.csv"), "generator:tuples=500"):
        given = ["check", str(tmp_path / "flows.yaml"), "--input", f"flows={source}"]
        done = CliRunner().invoke(main, given)
        assert done.exit_code == 0, done.output
        assert "copies" not in done.output
    for sources in ([], ["--input", f"flows={tmp_path / 'flows.csv'}"]):
        rate = ["--rate", "flows=100/s", "--tuples", "500"]
        done = CliRunner().invoke(main, ["check", str(tmp_path / "flows.yaml"), *sources, *rate])
        assert done.exit_code == 0, done.output


def test_check_refuses_what_is_no_weight(tmp_path: Path) -> None:
    (tmp_path / "flows.yaml").write_text(NETWORK.replace("weight: copies", "weight: host"))
    done = CliRunner().invoke(main, ["check", str(tmp_path / "flows.yaml")])
    assert done.exit_code != 0
    assert (
        "flows.inputs.flows.weight: the attribute 'host' has the type string; "
        "expected an attribute of the type double not null" in done.output
    )


class Message:
    """A message of a topic."""

    def __init__(self, value: bytes | None, key: bytes | None = None, **headers: bytes) -> None:
        self._value, self._key, self._headers = value, key, list(headers.items())

    def value(self) -> bytes | None:
        return self._value

    def key(self) -> bytes | None:
        return self._key

    def headers(self) -> list[tuple[str, bytes]]:
        return self._headers

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return 0

    def timestamp(self) -> tuple[int, int]:
        return (0, 0)


@pytest.mark.parametrize(
    ("options", "messages", "expected"),
    [
        ("", [Message(b'{"n": 1, "host": "a"}')], {"n": 1, "copies": None, "host": "a"}),
        ("", [Message(b'{"n": 1, "copies": 5}')], {"n": 1, "copies": 5.0, "host": None}),
        ("&key=n&value=text", [Message(b"a", b"1")], {"n": 1, "host": "a"}),
        (
            "&key=n&value=text&header.times=copies",
            [Message(b"a", b"1", times=b"5")],
            {"n": 1, "copies": 5.0, "host": "a"},
        ),
        ("&key=n&header.h=host", [Message(b"\xff", b"1", h=b"a")], {"n": 1, "host": "a"}),
    ],
)
def test_kafka(options: str, messages: list[Message], expected: dict[str, object]) -> None:
    source = parse_source("x", f"kafka:flows?servers=127.0.0.1:9092{options}", SCHEMA)
    batch = source.decoder.batch(messages)  # type: ignore[attr-defined]
    assert (batch.table.to_pylist(), batch.rejected) == ([expected], ())
