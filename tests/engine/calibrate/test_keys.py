"""Keys of samples: lookups emit what they would, whichever side is made up."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from australis.algebra.form import loads
from australis.algebra.network import Network
from australis.engine.calibrate.calibration import calibrate
from australis.engine.calibrate.keys import Meeting, meetings, met
from australis.engine.calibrate.samples import sample

VANS = """
australis: 1
name: fleet
inputs:
  vans: {schema: {van: string not null, driver: string}, table: true%s}
  reports: {schema: {id: string not null, speed: double}}
boxes:
  fast: {box: filter, from: reports, predicates: [speed > 50]}
  slim: {box: map, from: fast, attributes: {van: id, speed: speed}}
  known: {box: join, from: [slim, vans], predicate: left.van = right.van, table: right}
outputs:
  drivers: {from: known}
"""


def fleet(store: str = "") -> Network:
    return loads(VANS % (f", store: {store}" if store else ""), ".yaml")


def selectivity(network: Network, sources: dict[str, str] | None = None) -> float:
    found = calibrate(network, sample(network, sources or {}, {"reports": 1_000.0}, 20_000))
    return found.costs.boxes["known"].selectivity[0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"v{number:05d},driver {number}" for number in range(5_000)]
    (tmp_path / "vans.csv").write_text("van,driver\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_a_lookup_is_traced_to_the_inputs_through_filters_and_maps() -> None:
    assert list(meetings(fleet())) == [Meeting("reports", "vans", (("id", "van"),))]


def test_both_sides_made_up_meet_once() -> None:
    assert selectivity(fleet()) == pytest.approx(1.0)


def test_a_table_with_a_store_is_read_from_it(folder: Path) -> None:
    network = fleet("vans.csv")
    found = sample(network, {}, {"reports": 1_000.0}, 20_000)
    assert found.tables["vans"].num_rows == 5_000
    assert found.notes == ()
    assert selectivity(network) == pytest.approx(1.0)


def test_a_store_that_cannot_be_read_is_told(folder: Path) -> None:
    (folder / "vans.csv").unlink()
    found = sample(fleet("vans.csv"), {}, {"reports": 1_000.0}, 20_000)
    (note,) = found.notes
    assert note.startswith("vans: its store cannot be read, so that rows are made up")
    assert found.tables["vans"].num_rows > 100


def test_a_table_that_is_made_up_has_the_keys_of_the_stream(tmp_path: Path) -> None:
    path = tmp_path / "reports.parquet"
    rows = pa.table({"id": [f"x{number % 700}" for number in range(5_000)], "speed": [60.0] * 5_000})
    pq.write_table(rows.cast(fleet().inputs["reports"].schema.arrow), path)
    assert selectivity(fleet(), {"reports": str(path)}) == pytest.approx(1.0)


def test_what_the_user_gives_is_left_alone(folder: Path) -> None:
    assert selectivity(fleet("vans.csv"), {"reports": "generator:seed=1"}) == 0.0
    given = sample(fleet("vans.csv"), {"reports": "generator:seed=1"}, {"reports": 1_000.0}, 1_000)
    assert given.streams["reports"]["id"].to_pylist()[0].isdigit()


def test_without_keys_nothing_changes() -> None:
    rows = pa.table({"id": pa.array([], pa.string()), "speed": pa.array([], pa.float64())})
    table = pa.table({"van": ["a"], "driver": ["b"]})
    streams, tables = met(fleet(), {"reports": rows}, {"vans": table}, {"vans"}, 0)
    assert (streams["reports"], tables["vans"]) == (rows, table)
