"""What no train could read is refused or goes to the quarantine, before it is durable."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engine.in_process import InProcess

from australis import NetworkBuilder, Node
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.sources import FileSource, Options, SignalWaiter, hand_over, parse_source
from australis.engine.store.segments import read_segment, write_arrivals
from australis.errors import EngineError

TIMES = pa.timestamp("us", "UTC")
BYTES = [b"ok", b"\xff\xfe", b"x"]
BAD = pa.array(BYTES, pa.binary()).view(pa.string())
LONG = "b" * 230


def network() -> Network:
    net = NetworkBuilder("n")
    stream = net.input("s", "k long, word string, price decimal(6,2)")
    stream.map({"k": "k", "up": "upper(word)", "n": "length(word)"}, as_="map").output("out")
    return net.build()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path / "root", runner=InProcess()) as node:
        node.deploy(network())
        yield node


def rows(**columns: object) -> pa.Table:
    price = pa.array([Decimal("1.00")] * 3, pa.decimal128(6, 2))
    given = {"k": pa.array([1, 2, 3], pa.int64()), "word": pa.array(["a", "b", "c"]), "price": price}
    return pa.table({**given, **columns})


def too_precise() -> pa.Array:
    """Decimals with more digits than their type has, as only bytes can make them."""
    given = pa.array([Decimal("123456.78"), Decimal("1.00"), Decimal("2.00")], pa.decimal128(38, 2))
    return pa.Array.from_buffers(pa.decimal128(6, 2), 3, given.buffers())


SOME = pa.concat_tables([rows(word=BAD), rows(word=BAD)])


@pytest.mark.parametrize(
    ("given", "kept", "reason"),
    [
        (rows(word=BAD), [1, 3], "attribute word is not UTF-8"),
        (SOME.slice(1, 3), [3, 1], "attribute word is not UTF-8"),
        (
            rows(word=pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), BAD)),
            [1, 3],
            "attribute word is not UTF-8",
        ),
        (
            rows(word=pa.array(BYTES, pa.large_binary()).view(pa.large_string())),
            [1, 3],
            "attribute word is not UTF-8",
        ),
        (rows(price=too_precise()), [2, 3], "attribute price is not a decimal128(6, 2)"),
    ],
)
def test_rows_that_no_box_can_read_go_to_the_quarantine(
    node: Node, given: pa.Table, kept: list[int], reason: str
) -> None:
    node.push("s", given)
    node.push("s", rows())
    node.drain()
    assert node.read("out")["k"].to_pylist() == [*kept, 1, 2, 3]
    found = node.read("quarantine").to_pylist()
    assert {(row["path"], row["reason"]) for row in found} == {("n.s", reason)}
    assert len(found) == given.num_rows - len(kept)


def test_the_quarantine_shows_the_bytes(node: Node) -> None:
    node.push("s", rows(word=BAD))
    node.drain()
    (text,) = node.read("quarantine")["tuple"].to_pylist()
    assert text == '{"k": 2, "word": "\\\\xff\\\\xfe", "price": "1.00"}'


def test_a_push_of_nothing_else(node: Node) -> None:
    node.push("s", rows(word=BAD).slice(1, 1))
    node.drain()
    assert (node.read("out").num_rows, node.read("quarantine").num_rows) == (0, 1)


def twice() -> pa.Table:
    return pa.table([*rows().columns, rows()["k"]], names=[*rows().column_names, "k"])


def torn() -> pa.Array:
    """A text whose place is outside of the bytes."""
    offsets = pa.py_buffer(np.array([0, 5, 2, 3], np.int32))
    return pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"abc")])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            rows(**{"#ts": pa.array([1, None, 3], TIMES)}),
            r"^n\.s: its column '#ts' is NULL in 1 of 3 rows; expected a time of arrival in each row, or no"
            " column '#ts'$",
        ),
        (twice(), r"^n\.s: has more than one column 'k'; expected one of each name$"),
        (rows(word=torn()), r"^n\.s: has a damaged column: Offset invariant failure"),
    ],
)
def test_what_cannot_be_told_apart_by_rows_is_refused(node: Node, given: pa.Table, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        node.push("s", given)
    node.push("s", rows())
    node.drain()
    assert node.read("out").num_rows == 3
    assert node.read("quarantine").num_rows == 0


@pytest.mark.parametrize(
    "given",
    [
        rows(word=pa.array(["a\0b", "\0", ""])),
        rows(word=pa.nulls(3)),
        rows(word=pa.array(["a", "b", "a"]).dictionary_encode()),
        rows(word=pa.array(["a", "b", "c"], pa.string_view())),
        rows(**{"#ts": pa.array([1 - 2**63, 2**63 - 1, 0], TIMES)}),
        rows(**{"#seq": pa.array([9, 9, 9])}),
        pa.concat_tables([rows().slice(1), rows().slice(0, 1)]),
    ],
)
def test_what_only_looks_odd_passes(node: Node, given: pa.Table) -> None:
    node.push("s", given)
    node.drain()
    assert (node.read("out").num_rows, node.read("quarantine").num_rows) == (3, 0)


# --- files


def test_a_file_with_a_bad_text_is_not_adopted(node: Node, tmp_path: Path) -> None:
    pq.write_table(rows(word=BAD), tmp_path / "bad.parquet")
    message = r"bad\.parquet: row 2: attribute word is not UTF-8; expected values that can be read; push its"
    with pytest.raises(EngineError, match=message):
        node.adopt("s", tmp_path / "bad.parquet")
    pq.write_table(rows(), tmp_path / "good.parquet")
    node.adopt("s", tmp_path / "good.parquet")
    node.drain()
    assert node.read("out").num_rows == 3


def test_a_file_whose_times_have_no_room_is_not_adopted(tmp_path: Path) -> None:
    net = NetworkBuilder("n")
    net.input("s", "at timestamp").filter("at is not null").output("out")
    far = pa.table({"at": pa.array([2**50], pa.timestamp("ms", "UTC"))})
    pq.write_table(pa.table({"at": pa.array([2**62], pa.timestamp("ms", "UTC"))}), tmp_path / "bad.parquet")
    pq.write_table(far, tmp_path / "far.parquet")
    with Node(tmp_path / "root", runner=InProcess()) as node:
        node.deploy(net.build())
        with pytest.raises(EngineError, match=r"bad\.parquet: has values that do not fit: .*out of bounds"):
            node.adopt("s", tmp_path / "bad.parquet")
        node.adopt("s", tmp_path / "far.parquet")
        node.drain()
        assert node.read("out").num_rows == 1


def test_a_file_with_a_bad_text_is_read_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    pq.write_table(rows(word=BAD), path)
    source = parse_source("s", str(path), network().inputs["s"].schema, Options())
    assert isinstance(source, FileSource)
    with Node(tmp_path / "root", runner=InProcess()) as node:
        node.deploy(network())
        for delivery in source.start(node.position, SignalWaiter()).deliveries():
            hand_over(node, delivery)
        node.drain()
        assert node.read("out")["k"].to_pylist() == [1, 3]
        assert node.read("quarantine")["reason"].to_pylist() == [
            f"{path}, row 2: attribute word is not UTF-8"
        ]


# --- names, and roots of earlier versions


def test_names_may_be_longer_than_those_of_files(tmp_path: Path) -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", "k long, t long not null").point("p" * 250, history="forever")
    stream.aggregate({"c": "count(*)"}, Order("t"), size=10, as_=LONG).filter("c > 0").output(LONG)
    with Node(tmp_path, runner=InProcess(), discipline="train") as node:
        node.deploy(net.build())
        node.push("s", pa.table({"k": [1, 2], "t": [1, 20]}))
        node.flush()
        node.drain()
        assert node.read(LONG)["c"].to_pylist() == [1, 1]


def test_a_segment_without_some_times_of_arrival_can_be_read(node: Node) -> None:
    given = pa.table({"k": [1, 2], "#ts": pa.array([5, None], TIMES)})
    segment = write_arrivals(node.root, "s", given, 1, None)
    assert read_segment(node.root, segment, ["k"], 0, 9)["#ts"].cast(pa.int64()).to_pylist() == [5, 5]
