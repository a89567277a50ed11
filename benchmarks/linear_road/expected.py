"""The notifications and answers of Linear Road as SQL in DuckDB sees them, and how a node's differ."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb
import pyarrow as pa

SQL = Path(__file__).resolve().parent / "expected.sql"
COLUMNS = {
    "tolls": ("vid", "time", "lav", "toll"),
    "accidents": ("vid", "time", "xway", "dir", "seg"),
    "balances": ("qid", "vid", "time", "balance"),
    "expenditures": ("qid", "vid", "time", "expenditure"),
}
"""The outputs, and what their tuples say."""


COLUMNS_OF = {"traffic": "type, time, vid, spd, xway, lane, dir, seg, pos, qid, day", "history": "*"}


class Expected:
    """What DuckDB finds in some traffic, by expected.sql."""

    def __init__(
        self, traffic: pa.Table | pa.RecordBatchReader, history: pa.Table, folder: Path | None = None
    ) -> None:
        config = {} if folder is None else {"temp_directory": str(folder), "memory_limit": "6GB"}
        self.database = duckdb.connect(config=config)
        for name, table in (("traffic", traffic), ("history", history)):
            self.database.register(f"{name}_", table)
            self.database.execute(f"CREATE TABLE {name} AS SELECT {COLUMNS_OF[name]} FROM {name}_")
        self.database.execute(SQL.read_text())

    def differing(self, name: str, found: pa.Table) -> int:
        """How many tuples of an output are missing, wrong or too many."""
        columns = ", ".join(COLUMNS[name])
        self.database.register("found", found.select(COLUMNS[name]))
        one, other = f"SELECT {columns} FROM right_{name}", f"SELECT {columns} FROM found"
        return self._number(f"({one} EXCEPT ALL {other})") + self._number(f"({other} EXCEPT ALL {one})")

    def wrong(self, found: Mapping[str, pa.Table]) -> dict[str, int]:
        """The same for all outputs."""
        return {name: self.differing(name, found[name]) for name in COLUMNS}

    def rows(self, name: str) -> pa.Table:
        """The tuples that an output should have."""
        return self.database.sql(f"FROM right_{name}").to_arrow_table()

    def _number(self, rows: str) -> int:
        ((number,),) = self.database.execute(f"SELECT count(*) FROM {rows}").fetchall()
        return int(number)
