"""Reading history: from the node and from beside it, all or what is asked for, of one moment."""

from __future__ import annotations

import gc
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.history.bench import SECOND, Bench, network, opened, tuples

from australis.engine.history import organisation as keeping
from australis.engine.history import questions as question
from australis.engine.history import read_history, reading
from australis.engine.history.questions import instant_us
from australis.engine.history.reading import recall
from australis.engine.store import runs
from australis.engine.store.segments import staged
from australis.errors import AlgebraError, EngineError


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "RUN_ROWS_MOST", 20)
    monkeypatch.setattr(runs, "GROUP_ROWS", 4)


def filled(bench: Bench) -> None:
    """A hundred tuples, five every second; sixty are in runs."""
    for number in range(20):
        bench.now = number * SECOND
        bench.push(tuples(number * 5, 5))
        if number == 11:
            bench.passed()
            bench.gather()


def values(tables: object) -> list[float]:
    return [value for table in tables for value in table["v"].to_pylist()]  # type: ignore[attr-defined]


ALL = [number / 2 for number in range(100)]


def test_runs_and_segments_are_read_alike_in_the_order_of_numbers(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        assert len(bench.runs()) == 3
        assert bench.history()["v"].to_pylist() == ALL
        assert bench.history().column_names == ["k", "v", "note", "#ts", "#seq"]
        assert values(read_history(tmp_path, "past")) == ALL


@pytest.mark.parametrize("key", ["k", "v", "note", None])
def test_what_is_asked_for_is_what_is_given(tmp_path: Path, key: str | None) -> None:
    with opened(tmp_path, network(key=key)) as bench:
        filled(bench)
        expected = [n / 2 for n in range(100) if n * 7 % 10 == 3 and n >= 10]
        assert bench.history(where="k = 3 and v >= 5")["v"].to_pylist() == expected
        assert bench.history(since_us=3 * SECOND, until_us=14 * SECOND)["v"].to_pylist() == ALL[15:70]
        both = bench.history(where="k = 3", since_us=3 * SECOND, columns=["v"])
        assert both.column_names == ["v", "#ts", "#seq"]
        assert both["v"].to_pylist() == [n / 2 for n in range(15, 100) if n * 7 % 10 == 3]
        assert bench.history(limit=7)["v"].to_pylist() == ALL[:7]
        assert bench.history(limit=0).num_rows == 0
        assert bench.history(where="note = 'note 42'")["v"].to_pylist() == [21.0]


@given(st.integers(0, 110), st.integers(0, 10), st.integers(0, 25), st.integers(0, 25))
def test_a_question_is_a_filter(many: Bench, limit: int, k: int, since: int, until: int) -> None:
    found = many.history(where=f"k >= {k}", since_us=since * SECOND, until_us=until * SECOND, limit=limit)
    expected = [n / 2 for n in range(100) if n * 7 % 10 >= k and since <= n // 5 < until]
    assert (found["v"].to_pylist() if found.num_columns else []) == expected[:limit]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keeping, "RUN_ROWS_MOST", 20)
        patch.setattr(runs, "GROUP_ROWS", 4)
        with opened(tmp_path_factory.mktemp("many")) as bench:
            filled(bench)
            yield bench


def test_a_lookup_opens_only_row_groups_that_may_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    plain = question.read_segment
    with opened(tmp_path) as bench:
        filled(bench)
        monkeypatch.setattr(
            question, "read_segment", lambda *given: [read.append((t := plain(*given)).num_rows), t][1]
        )
        assert bench.history(where="k = 3").num_rows == 10
        assert sum(read[:3]) < 60, "of the runs"
        assert sum(read[3:]) == 40, "of the segments behind them"


def test_an_answer_is_of_the_moment_of_the_question(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        tables = read_history(tmp_path, "past")
        own = _tables(bench)
        bench.push(tuples(100, 5))
        bench.passed()
        bench.gather()
        assert values(own) == ALL
        assert values(tables) == ALL, "though all its segments are gone by now"
        assert values(read_history(tmp_path, "past")) == [n / 2 for n in range(105)]


def _tables(bench: Bench) -> object:
    return recall(bench.ledger, question.question(bench.ledger.plan, "past"))


def test_files_of_a_question_that_nobody_goes_on_with_are_let_go(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        tables = _tables(bench)
        loose = [tmp_path / segment.name for segment in bench.segments() if not segment.is_run]
        bench.passed()
        bench.gather()
        assert all(file.exists() for file in loose)
        del tables
        gc.collect()
        assert not any(file.exists() for file in loose)


def test_another_process_goes_on_where_files_are_replaced_under_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has read some, and not looked at the rest so far."""
    monkeypatch.setattr(reading, "CHUNK_ROWS", 20)
    with opened(tmp_path) as bench:
        filled(bench)
        tables = read_history(tmp_path, "past")
        first = next(tables)
        bench.passed()
        bench.gather()
        assert [*first["v"].to_pylist(), *values(tables)] == ALL


def test_another_process_goes_on_where_files_are_replaced_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the time when it lists files anew and that when it opens them, some are replaced once more."""
    with opened(tmp_path) as bench:

        def gathered(first: int) -> int:
            bench.push(tuples(first, 10))
            bench.passed()
            bench.gather()
            return len(bench.runs())

        def listed(*asked: object) -> object:
            found = newer(*asked)
            counts.append(gathered(110 + 10 * len(counts)))
            return found

        newer, counts = reading._newer, [3]
        monkeypatch.setattr(reading, "_newer", listed)
        filled(bench)
        bench.push(tuples(100, 5))
        tables = read_history(tmp_path, "past")
        counts.append(gathered(105))
        assert values(tables) == [number / 2 for number in range(105)]
        assert counts[:3] == [3, 5, 6]


def test_a_run_that_is_gone_for_good_is_named(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        file = bench.files()[1]
        file.unlink()
        with pytest.raises(EngineError, match=f"{file.name}: cannot be read"):
            values(read_history(tmp_path, "past"))


def test_a_damaged_run_is_named_unless_it_says_the_same(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        file = bench.files()[1]
        whole, found, told = file.read_bytes(), [], []
        for place in range(0, len(whole), 97):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
            try:
                found.append(values(read_history(tmp_path, "past")))
            except EngineError as error:
                told.append(str(error))
        assert all(each == ALL for each in found)
        assert all(file.name in each for each in told)
        assert len(told) > len(found), "most of it is checked"
        file.write_bytes(whole[:-9])
        with pytest.raises(EngineError, match=file.name):
            bench.history()


def test_a_run_that_was_committed_but_not_published_is_found(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        names = [run.name for run in bench.runs()]
        bench.ledger.root.move(names[1], staged(names[1]))
    assert values(read_history(tmp_path, "past")) == ALL
    with opened(tmp_path) as bench:
        assert [str(file.relative_to(tmp_path)) for file in bench.files()] == names
        assert bench.history()["v"].to_pylist() == ALL


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        filled(bench)
        with pytest.raises(EngineError, match=r"no connection point 'futur'.*one of past"):
            read_history(tmp_path, "futur")
        with pytest.raises(AlgebraError, match="unknown attribute 'w'"):
            read_history(tmp_path, "past", columns=["w"])
        with pytest.raises(AlgebraError, match=r"where: .*unknown attribute 'w'"):
            bench.history(where="w > 1")
    with pytest.raises(EngineError, match="is not the root of a node"):
        read_history(tmp_path / "segments", "past")


def test_moments() -> None:
    now = 100 * SECOND
    assert instant_us(None, now) is None
    assert instant_us(7, now) == 7
    assert instant_us("10 s", now) == 90 * SECOND
    assert instant_us(datetime(1970, 1, 1, 0, 1, tzinfo=UTC), now) == 60 * SECOND


def test_an_empty_history_is_no_table(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        assert bench.history() == pa.table({})
        assert list(read_history(tmp_path, "past")) == []
