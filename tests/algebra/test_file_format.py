"""Formats of files: what a document and a program can say, and what is refused, all at once."""

from __future__ import annotations

from typing import Any

import pytest

from australis import AlgebraError, FileFormat, NetworkBuilder, dumps, loads
from australis.algebra.form import from_json
from australis.algebra.store import Store, file_format_of


@pytest.mark.parametrize(
    "said",
    [
        "zeek",
        "jsonl",
        "parquet",
        "csv",
        {"csv": {"header": False, "separator": "::", "nulls": ["-", ""], "columns": ["b", "a", "_", "_"]}},
        {"csv": {"separator": "\t", "quote": "'", "columns": {"a": "The A"}}},
        {"csv": {"quote": ""}},
        {"zeek": {"columns": {"a": "id.orig_h"}}},
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_format_reads_back_equal(said: Any, suffix: str) -> None:
    net = NetworkBuilder("n")
    net.input("x", "a int, b int", format=said).output("o")
    network = net.build()
    assert network.inputs["x"].format == file_format_of(said)
    assert loads(dumps(network, suffix), suffix) == network
    assert file_format_of(said).as_json() == said
    assert hash(network.inputs["x"].format) == hash(file_format_of(said))


@pytest.mark.parametrize(
    ("said", "messages"),
    [
        ("xls", [": is 'xls'; expected one of csv, zeek, jsonl, parquet"]),
        (7, [": is 7; expected csv, zeek, jsonl, parquet, or one with its options"]),
        ({"csv": {}, "zeek": {}}, ["expected csv, zeek, jsonl, parquet, or one with its options"]),
        ({"csv": {"seperator": ";"}}, [".csv.seperator: unknown option (perhaps 'separator')"]),
        ({"zeek": {"nulls": ["-"]}}, [".zeek.nulls: unknown option"]),
        ({"parquet": {"header": False}}, [".parquet.header: unknown option; expected none: parquet has no"]),
        (
            {"csv": {"header": "no", "separator": "a\nb", "nulls": ["NA", 1]}},
            [".csv.header: is 'no'", ".csv.separator: is 'a\\nb'", ".csv.nulls[1]: is 1; expected a text"],
        ),
        ({"csv": {"separator": ";", "quote": ";"}}, [".csv.quote: is the separator, too"]),
        ({"csv": {"quote": "''"}}, [".csv.quote: is \"''\"; expected another character"]),
        ({"csv": {"separator": "blanks", "quote": "'"}}, ["quotes are read only with a separator of one"]),
        ({"csv": {"columns": ["a", "b"]}}, [".csv.columns: lists columns, but the file names them itself"]),
        ({"csv": {"header": False, "columns": {"a": "b"}}}, ["names columns of a file without a header"]),
        ({"csv": {"header": False, "columns": ["a", "a"]}}, ["lacks the attribute b", "a more than once"]),
        ({"csv": {"columns": {"c": "d"}}}, [".csv.columns.c: unknown attribute 'c'; expected one of a, b"]),
    ],
)
def test_what_is_wrong_with_a_format(said: Any, messages: list[str]) -> None:
    document = {
        "australis": 1,
        "name": "n",
        "inputs": {"x": {"schema": {"a": "int", "b": "int"}, "format": said}},
        "outputs": {"o": {"from": "y"}},
    }
    with pytest.raises(AlgebraError) as raised:
        from_json(document)
    found = str(raised.value)
    assert all(message in found for message in messages), found
    assert found.startswith("n.inputs.x.format")
    # The rest of the network is checked, too.
    assert "outputs.o.from: there is no" in found


def test_a_database_has_no_format_of_files() -> None:
    net = NetworkBuilder("n")
    with pytest.raises(AlgebraError, match=r"format: is .*, but the store is a database"):
        net.table("x", "a int", store=Store("sqlite:///a.db", "t"), format=FileFormat("csv", header=False))
