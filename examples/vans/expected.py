"""The outputs of the vans as SQL in DuckDB sees them, and how what a node wrote differs from that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.json as pa_json
from vans import REPORT

HERE = Path(__file__).resolve().parent
KEYS = {
    "speeding": ("van", "at"),
    "standing": ("van", "at"),
    "silent": ("van",),
    "stolen": ("van", "at"),
    "averages": ("van", "at"),
    "nearly_empty": ("van", "at"),
}
"""The outputs, and by what their results are told apart."""


@dataclass(frozen=True)
class Comparison:
    """An output beside what it should be; `reduced` results miss only what the node counted as lost."""

    results: int
    missing: int
    doubled: int
    wrong: int
    reduced: int = 0

    def form(self) -> dict[str, int]:
        return asdict(self)


class Expected:
    """What DuckDB finds in the files of a folder, by expected.sql."""

    def __init__(self, folder: Path) -> None:
        self._db, self._folder = duckdb.connect(), folder
        self._db.register("arrived", _arrived(folder / "incoming"))
        self._db.execute("CREATE TABLE reports AS FROM arrived")
        self._db.execute(f"CREATE TABLE vans AS FROM read_csv('{folder / 'vans.csv'}', all_varchar = true)")
        self._db.execute((HERE / "expected.sql").read_text())

    def count(self, name: str) -> int:
        """How many rows a table or a view has."""
        return self._number(f"SELECT count(*) FROM {name}")

    def compare(self, name: str, lost: int) -> Comparison:
        """What was written beside the view of its name; `lost` tuples were shed, late or ignored."""
        self._read(name)
        by = ", ".join(f'"{key}"' for key in KEYS[name])
        both = f"right_{name} r JOIN found_{name} f USING ({by}) WHERE {self._differs(name)}"
        doubled = f"(SELECT count(*) AS n FROM found_{name} GROUP BY {by})"
        missing = self.count(f"right_{name} ANTI JOIN found_{name} USING ({by})")
        unknown = self.count(f"found_{name} ANTI JOIN right_{name} USING ({by})")
        different = self.count(both)
        found = Comparison(
            self.count(f"right_{name}"),
            missing,
            self._number(f"SELECT coalesce(sum(n - 1), 0) FROM {doubled}"),
            unknown + different,
        )
        if lost and name == "averages":
            unaccounted = abs(self._reports("right_averages") - self._reports("found_averages") - lost)
            return Comparison(found.results, 0, found.doubled, unknown + unaccounted, missing + different)
        if lost and name == "nearly_empty":
            return Comparison(found.results, max(0, missing - lost), found.doubled, found.wrong, missing)
        return found

    def _read(self, name: str) -> None:
        file = self._folder / f"{name}.csv"
        self._db.execute(f"CREATE OR REPLACE TABLE right_{name} AS FROM {name}")
        self._db.execute(f"CREATE OR REPLACE TABLE found_{name} AS FROM {name} LIMIT 0")
        self._db.execute(f"INSERT INTO found_{name} BY NAME FROM read_csv('{file}', all_varchar = true)")

    def _differs(self, name: str) -> str:
        """When two rows of one key are not the same; averages may differ in the last digits."""
        columns = self._db.execute(f"SELECT column_name, column_type FROM (DESCRIBE {name})").fetchall()
        unequal = [
            f'abs(r."{column}" - f."{column}") > 1e-9 * greatest(1, abs(r."{column}"))'
            if kind == "DOUBLE"
            else f'r."{column}" IS DISTINCT FROM f."{column}"'
            for column, kind in columns
            if column not in KEYS[name]
        ]
        return " OR ".join(unequal)

    def _reports(self, table: str) -> int:
        return self._number(f"SELECT coalesce(sum(reports), 0) FROM {table}")

    def _number(self, sql: str) -> int:
        row = self._db.execute(sql).fetchone()
        assert row is not None
        return int(row[0])


def lost(name: str, counted: Mapping[str, dict]) -> int:
    """How many reports the node says it has lost on their way to an output that tolerates loss."""
    windows = counted["boxes"]["minute"] if name == "averages" else {"late": 0, "ignored": 0}
    return int(counted["shed"].get(name, 0) + windows["late"] + windows["ignored"])


def _arrived(incoming: Path) -> pa.Table:
    """All reports, numbered as they arrived: file by file, line by line."""
    kinds = {"string": pa.string(), "double": pa.float64(), "timestamp": pa.timestamp("us", "UTC")}
    schema = pa.schema([(name, kinds[kind.split()[0]]) for name, kind in REPORT.items()])
    options = pa_json.ParseOptions(explicit_schema=schema)
    files = [file for file in sorted(incoming.glob("*.jsonl")) if file.stat().st_size]
    table = pa.concat_tables([pa_json.read_json(file, parse_options=options) for file in files])
    times = table["at"].cast(pa.timestamp("us"))
    table = table.set_column(table.schema.get_field_index("at"), "at", times)
    return table.append_column("n", pa.array(range(table.num_rows)))
