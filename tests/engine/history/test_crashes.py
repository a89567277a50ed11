"""A process that ends while it organises history leaves all tuples, each of them once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.engine.history.bench import SECOND, Bench, network, opened, tuples

from australis.engine.crash_points import POINTS, VARIABLE
from australis.engine.history import organisation as keeping
from australis.engine.history import read_history

GATHER = """
import sys
from pathlib import Path
from tests.engine.history.bench import opened
from tests.engine.history.test_crashes import feed
from australis.engine.history import organisation as keeping
keeping.RUN_ROWS_MOST = 20
with opened(Path(sys.argv[1])) as bench:
    feed(bench)
"""
ALL = [number / 2 for number in range(200)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "RUN_ROWS_MOST", 20)


def feed(bench: Bench) -> None:
    """Push what is not there so far, five tuples at a time, and make runs."""
    have = bench.ledger.queues.log_end // 6
    for number in range(have, 40):
        bench.now = number * SECOND
        bench.push(tuples(number * 5, 5))
        bench.passed()
        bench.gather()


@pytest.mark.parametrize("point", [name for name in POINTS if name.startswith("history.")])
@pytest.mark.parametrize("times", [1, 3])
def test_history_is_whole_after_a_crash(tmp_path: Path, point: str, times: int) -> None:
    environment = {**os.environ, VARIABLE: f"{point}:{times}"}
    ended = subprocess.run(
        [sys.executable, "-c", GATHER, str(tmp_path)], env=environment, cwd=_root(), check=False
    )
    assert ended.returncode == -signal.SIGKILL
    before = _counted(tmp_path)
    beside = [value for table in read_history(tmp_path, "past") for value in table["v"].to_pylist()]
    assert beside == ALL[: len(beside)]
    assert len(beside) >= times * 20
    with opened(tmp_path) as bench:
        assert bench.history()["v"].to_pylist() == beside
        assert _counted(tmp_path) >= before, "what others saw is still there"
        assert not set(tmp_path.glob("segments/*")) - {tmp_path / each.name for each in bench.segments()}
        feed(bench)
        assert bench.history()["v"].to_pylist() == ALL
        assert _counted(tmp_path) == 200


def _root() -> Path:
    return Path(__file__).resolve().parents[3]


def _counted(folder: Path) -> int:
    return sum(pq.read_metadata(file).num_rows for file in folder.glob("history/past/*.parquet"))


def test_a_restart_deletes_what_had_expired(tmp_path: Path) -> None:
    given = network(history="16 s")
    with opened(tmp_path, given) as bench:
        for number in range(40):
            bench.now = number * SECOND
            bench.push(tuples(number * 5, 5))
            bench.passed()
            bench.expire()
            bench.gather()
        known = {run.name for run in bench.runs()}
        assert len(bench.files()) > len(known)
    with opened(tmp_path, given, now=bench.now) as bench:
        assert {str(file.relative_to(tmp_path)) for file in bench.files()} == known
