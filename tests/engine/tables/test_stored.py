"""Stores of every kind, read whole: values of every type, rows that do not fit, tables that changed."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engine.tables.made import CARS, sqlite_table, streamed
from tests.engine.tables.server import Server

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.store import Store
from australis.engine.tables import postgresql as module
from australis.engine.tables.opening import open_store
from australis.errors import EngineError

EVERYTHING = "i int, l long, d double, s string, b boolean, t timestamp, n decimal(10,2)"
NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)
FULL = {"i": -7, "l": 1 << 60, "d": 2.5, "s": "it's", "b": True, "t": NOON, "n": Decimal("1.50")}
EMPTY = dict.fromkeys(FULL)


def read(network: Network, name: str = "cars") -> tuple[list[dict[str, object]], list[str]]:
    with open_store(network, name) as stored:
        batch = stored.read()
    return batch.table.to_pylist(), [row.reason for row in batch.rejected]


def of(store: Store, schema: str = EVERYTHING, timezone: str = "UTC") -> Network:
    net = NetworkBuilder("fleet", timezone=timezone)
    net.input("cars", schema, store=store).output("cars")
    return net.build()


# --- SQLite


def test_sqlite_has_values_of_every_type(tmp_path: Path) -> None:
    columns = "i int, l bigint, d real, s text, b boolean, t datetime, n decimal(10,2)"
    row = (-7, 1 << 60, 2.5, "it's", 1, "2024-06-01 14:00:00+02:00", 1.5)
    url = sqlite_table(tmp_path / "cars.db", columns, [row, (None,) * 7])
    assert read(of(Store(url, "cars"))) == ([FULL, EMPTY], [])


def test_times_without_a_zone_are_local(tmp_path: Path) -> None:
    url = sqlite_table(tmp_path / "cars.db", "t text", [("2024-06-01 14:00:00",)])
    assert read(of(Store(url, "cars"), "t timestamp", "Europe/Berlin")) == ([{"t": NOON}], [])


def test_a_row_of_sqlite_that_does_not_fit_is_rejected_with_the_reason(tmp_path: Path) -> None:
    rows = [(1, "a"), ("x", "b"), (2.5, "c"), (1 << 40, "d"), (None, "e"), (6, b"f"), (7, "g")]
    url = sqlite_table(tmp_path / "cars.db", "i, s", rows)
    found, reasons = read(of(Store(url, "cars"), "i int not null, s string"))
    assert found == [{"i": 1, "s": "a"}, {"i": 7, "s": "g"}]
    assert reasons[:3] == ["i: 'x' is no int", "i: '2.5' is no int", f"i: {1 << 40} is no int"]
    assert len(reasons) == 5


def test_booleans_of_sqlite_are_0_and_1(tmp_path: Path) -> None:
    url = sqlite_table(tmp_path / "cars.db", "b boolean", [(0,), (1,), (2,)])
    assert read(of(Store(url, "cars"), "b boolean")) == ([{"b": False}, {"b": True}], ["b: 2 is no boolean"])


def test_names_are_quoted(tmp_path: Path) -> None:
    url = sqlite_table(tmp_path / "a b?%.db", "i int", [(1,)], table='x" y')
    written = url.replace("%", "%25").replace("?", "%3F")
    assert read(of(Store(written, 'x" y'), "i int"))[0] == [{"i": 1}]


def test_a_view_is_a_table_too(tmp_path: Path) -> None:
    url = sqlite_table(tmp_path / "cars.db", "i int", [(1,), (5,)])
    with sqlite3.connect(tmp_path / "cars.db") as db:
        db.execute("create view fast as select i, i * 2.5 as d from cars where i > 2")
    db.close()
    assert read(of(Store(url, "main.fast"), "i int, d double"))[0] == [{"i": 5, "d": 12.5}]


@pytest.mark.parametrize(
    ("columns", "table", "said"),
    [
        ("id int, name text, power real", "none", "none of .* is not there"),
        ("id int, name text", "cars", "has no column 'power', but id, name"),
        (
            "id int, name int, power real",
            "cars",
            "has a column 'name' of type INT; expected values of string",
        ),
        ("id text, name text, power real", "cars", "has a column 'id' of type TEXT; expected values of int"),
    ],
)
def test_a_table_of_sqlite_that_is_gone_or_changed_is_refused(
    tmp_path: Path, columns: str, table: str, said: str
) -> None:
    url = sqlite_table(tmp_path / "cars.db", columns, [])
    with pytest.raises(EngineError, match=said):
        open_store(streamed(Store(url, table)), "cars")


def test_a_file_of_sqlite_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="cannot be read: unable to open database file"):
        open_store(streamed(Store(f"sqlite:///{tmp_path}/none.db", "cars")), "cars")
    assert not list(tmp_path.iterdir())


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cars.db").write_text("not a database" * 100)
    with pytest.raises(EngineError, match="file is not a database"):
        open_store(streamed(Store(f"sqlite:///{tmp_path}/cars.db", "cars")), "cars")


# --- PostgreSQL


def test_postgresql_has_values_of_every_type(postgresql: Server) -> None:
    postgresql.run(
        "drop table if exists everything",
        "create table everything (i int, l bigint, d float8, s text, b boolean, t timestamptz, n numeric)",
        f"insert into everything values (-7, {1 << 60}, 2.5, 'it''s', true, '2024-06-01 14:00:00+02', 1.5)",
        "insert into everything values (null, null, null, null, null, null, null)",
    )
    assert read(of(Store(postgresql.uri, "everything"))) == ([FULL, EMPTY], [])


def test_types_of_postgresql_that_are_narrower_do_too(postgresql: Server) -> None:
    postgresql.run(
        "drop table if exists narrow",
        "create table narrow (i int2, l int4, d float4, s varchar(9), t timestamp)",
        "insert into narrow values (1, 2, 0.5, 'x', '2024-06-01 14:00:00')",
    )
    network = of(
        Store(postgresql.uri, "narrow"), "i int, l long, d double, s string, t timestamp", "Europe/Berlin"
    )
    assert read(network)[0] == [{"i": 1, "l": 2, "d": 0.5, "s": "x", "t": NOON}]


def test_a_row_of_postgresql_that_does_not_fit_is_rejected(postgresql: Server) -> None:
    postgresql.run(
        "drop table if exists odd",
        "create table odd (i int, n numeric, t timestamptz)",
        "insert into odd values (1, 'NaN', null), (2, 123456789.5, null), (3, 1.005, null), (null, 1, null)",
        "insert into odd values (4, 1, 'infinity'), (5, 1, '-infinity'), (6, 1, '2024-06-01 12:00:00Z')",
    )
    found, reasons = read(of(Store(postgresql.uri, "odd"), "i int not null, n decimal(10,2), t timestamp"))
    assert [row["i"] for row in found] == [6]
    assert sorted(reasons)[1:] == ["n: is no decimal(10,2)"] * 3 + ["t: is no timestamp"] * 2


@pytest.mark.parametrize(
    ("columns", "table", "said"),
    [
        ("id int, name text, power float8", "none", "is not there; expected a table or view of that name"),
        ("id int, name text", "changed", "has no column 'power', but id, name"),
        (
            "id bigint, name text, power float8",
            "changed",
            "has a column 'id' of type int8; expected what int",
        ),
        ("id int, name text, power date", "changed", "has a column 'power' of type date"),
        ("id int, name text, power numeric", "changed", "has a column 'power' of type numeric"),
    ],
)
def test_a_table_of_postgresql_that_is_gone_or_changed_is_refused(
    postgresql: Server, columns: str, table: str, said: str
) -> None:
    postgresql.run("drop table if exists changed", f"create table changed ({columns})")
    with pytest.raises(EngineError, match=said):
        open_store(streamed(Store(postgresql.uri, table)), "cars")


def test_another_schema_of_postgresql_is_named_before_the_table(postgresql: Server) -> None:
    postgresql.run(
        "create schema if not exists fleet",
        'drop table if exists fleet."Cars"',
        "create table fleet.\"Cars\" as select 1 as id, 'a'::text as name, 2.5::float8 as power",
    )
    assert read(streamed(Store(postgresql.uri, "fleet.Cars")))[0] == [{"id": 1, "name": "a", "power": 2.5}]


def test_a_server_that_is_not_there_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    monkeypatch.setenv("AUSTRALIS_CARS", "ge:h/eim")
    store = Store("postgresql://me:${AUSTRALIS_CARS}@127.0.0.1:1/db", "cars")
    with pytest.raises(
        EngineError, match=r"cars of postgresql://me:\$\{AUSTRALIS_CARS\}@.*[Cc]onnection refused"
    ) as e:
        open_store(streamed(store), "cars")
    assert "eim" not in str(e.value)


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUSTRALIS_CARS", raising=False)
    pytest.importorskip("adbc_driver_postgresql")
    store = Store("postgresql://me:${AUSTRALIS_CARS}@127.0.0.1:1/db", "cars")
    with pytest.raises(
        EngineError, match=r"fleet\.cars\.store\.at: the environment variable AUSTRALIS_CARS is not"
    ):
        open_store(streamed(store), "cars")


def test_a_variable_that_is_not_meant_for_stores_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.csv").write_text("id,name,power\n1,a,2.5\n")
    monkeypatch.setenv("CLOUD_KEY", "secret")
    network = streamed(Store(f"{tmp_path}/${{CLOUD_KEY}}.csv"))
    refused = (
        r"^fleet\.cars\.store\.at: a store may not read the environment variable CLOUD_KEY; expected "
        r"a variable whose name begins with AUSTRALIS_, or AUSTRALIS_ENV_ALLOWED=CLOUD_KEY in the environ"
    )
    with pytest.raises(EngineError, match=refused):
        open_store(network, "cars")
    monkeypatch.setenv("AUSTRALIS_ENV_ALLOWED", "CLOUD, CLOUD_KEY")
    assert len(read(network)[0]) == 1


def test_without_a_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DRIVER", "australis_has_no_such_driver")
    with pytest.raises(EngineError, match=r"pip install 'australis\[postgresql\]'"):
        open_store(streamed(Store("postgresql://127.0.0.1:1/db", "cars")), "cars")


# --- files


def test_files_are_stores(tmp_path: Path) -> None:
    rows = [{"id": 1, "name": "a", "power": 2.5}, {"id": 2, "name": None, "power": None}]
    (tmp_path / "cars.csv").write_text("id,name,power\n1,a,2.5\n2,,\nx,b,1\n")
    pq.write_table(
        pa.Table.from_pylist(
            rows, pa.schema([("id", pa.int32()), ("name", pa.string()), ("power", pa.float64())])
        ),
        tmp_path / "cars.parquet",
    )
    found, reasons = read(streamed(Store(str(tmp_path / "cars.csv")), CARS))
    assert found == rows
    assert len(reasons) == 1
    assert read(streamed(Store(str(tmp_path / "cars.parquet")), CARS)) == (rows, [])


def test_a_variable_may_name_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cars.csv").write_text("id,name,power\n1,a,2.5\n")
    monkeypatch.setenv("AUSTRALIS_FOLDER", str(tmp_path))
    assert len(read(streamed(Store("${AUSTRALIS_FOLDER}/cars.csv")))[0]) == 1


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="there is no such file"):
        open_store(streamed(Store(str(tmp_path / "cars.parquet"))), "cars")
