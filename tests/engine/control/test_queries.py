"""Ad hoc queries of clients: history and what comes, with flow control, until one of both sides goes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.control.house import House, bare, both, cars, fast, reached

from australis.engine.control.address import FILE
from australis.engine.control.client import Control, reach
from australis.engine.control.server import ControlServer
from australis.engine.control.streams import End, Stream
from australis.engine.control.temporary_queries import FILE as GUESTS
from australis.engine.control.temporary_queries import Guests
from australis.errors import EngineError, Problem


def test_a_query_reads_history_and_then_what_comes(house: House, control: Control, tmp_path: Path) -> None:
    house.push(cars(70, 90))
    with control.attach(fast()) as query:
        found = iter(query)
        output, table = next(found)
        assert (output, table["speed"].to_pylist()) == ("fast", [90.0])
        house.push(cars(10, 20))
        house.push(cars(95, 20, 100))
        assert next(found)[1]["speed"].to_pylist() == [95.0, 100.0]
        with reached(tmp_path) as other:
            assert other.attached() == {"query1": fast()}
    assert control.attached() == {}


def test_a_client_may_go_before_its_query_is_read(
    house: House, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream ends though it had not subscribed when its client went."""
    begin, has_ended = Stream._send_all, threading.Event()
    end = Stream.end

    def begin_late(stream: Stream, output: str) -> None:
        assert has_ended.wait(30)
        begin(stream, output)

    def end_first(stream: Stream) -> None:
        with stream._changed:
            stream._over = True
        has_ended.set()
        end(stream)

    monkeypatch.setattr(Stream, "_send_all", begin_late)
    monkeypatch.setattr(Stream, "end", end_first)
    with control.attach(fast()):
        pass
    assert control.attached() == {}


def test_without_follow_it_ends(house: House, control: Control) -> None:
    house.push(cars(70, 90))
    house.push(cars(99))
    with control.attach(both(), name="both", follow=False) as query:
        found = [(output, *table["speed"].to_pylist()) for output, table in query]
        assert query.end is End.DONE
    assert sorted(found) == [("quick", 90.0), ("quick", 99.0), ("slow", 70.0)]
    assert query.network == both()


@pytest.mark.usefixtures("small_parts")
def test_a_long_table_comes_in_parts_and_is_acknowledged_whole(house: House, control: Control) -> None:
    house.push(pa.concat_tables([cars(90)] * 2_000))
    with control.attach(fast(), name="fast", keep=True) as query:
        rows = [table.num_rows for _, table in zip(range(2), (each for _, each in query), strict=False)]
        assert 0 < sum(rows) < 1_000
    assert house.queries["fast"].taken == {"fast": 0}
    with control.join("fast", follow=False) as query:
        assert sum(table.num_rows for _, table in query) == 2_000
    assert house.queries["fast"].taken == {"fast": 1}


def test_names(house: House, control: Control, tmp_path: Path) -> None:
    """A name that is free is found; one that is taken is refused."""
    with control.attach(fast(), name="query2"), reached(tmp_path) as two, reached(tmp_path) as three:
        assert two.attach(fast()).name == "query1"
        assert three.attach(fast()).name == "query3"
        with reached(tmp_path) as four, pytest.raises(EngineError, match="query1: is attached already"):
            four.attach(fast(), name="query1")
    house.until(lambda: not house.queries)


def test_a_client_that_hangs_up_takes_its_query_away(house: House, control: Control, tmp_path: Path) -> None:
    """Also where it waits for tuples that do not come, and where it has not taken the last table."""
    house.push(cars(90))
    with reached(tmp_path) as one, reached(tmp_path) as two, reached(tmp_path) as three:
        one.attach(fast(), name="reading")
        two.attach(fast(200), name="waiting")
        three.attach(fast(200), name="kept", keep=True).close()
        assert set(control.attached()) == {"reading", "waiting", "kept"}
    house.until(lambda: set(house.queries) == {"kept"})
    with control.join("kept") as query:
        house.push(cars(300))
        assert next(iter(query))[1]["speed"].to_pylist() == [300.0]


def test_a_query_that_is_kept_goes_on_behind_the_last_table_taken(house: House, control: Control) -> None:
    house.push(cars(90))
    house.push(cars(91))
    house.push(cars(92))
    with control.attach(fast(), name="fast", keep=True) as query:
        found = iter(query)
        assert [next(found)[1]["speed"].to_pylist() for _ in range(2)] == [[90.0], [91.0]]
    with control.join("fast", follow=False) as query:
        assert [table["speed"].to_pylist() for _, table in query] == [[91.0], [92.0]]
    control.detach("fast")
    with pytest.raises(EngineError, match="is attached; attached: none"):
        control.join("fast")


def test_a_query_has_one_reader(control: Control, tmp_path: Path) -> None:
    with control.attach(fast(), name="fast", keep=True), reached(tmp_path) as other:
        with pytest.raises(EngineError, match="fast: is read by another client"):
            other.join("fast")
        with other.attach(fast(), name="more", keep=True):
            pass
        with pytest.raises(EngineError, match=r"no query 'nobody' is attached; attached: fast, more$"):
            other.join("nobody")


def test_somebody_else_detaches_a_query(house: House, control: Control, tmp_path: Path) -> None:
    query = control.attach(fast(), name="fast")
    with reached(tmp_path) as other:
        other.detach("fast")
        assert not (tmp_path / GUESTS).exists()
    assert list(query) == []
    assert query.end is End.DETACHED
    query.close()
    assert control.attached() == {}


def test_somebody_else_detaches_a_query_before_anything_of_it_is_read(
    house: House, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    detached, subscribe = threading.Event(), house.subscribe

    def late(output: str, *, consumer: str = "subscriber", follow: bool = True) -> Iterator[pa.Table]:
        detached.wait()
        return subscribe(output, consumer=consumer, follow=follow)

    monkeypatch.setattr(house, "subscribe", late)
    query = control.attach(fast(), name="fast")
    with reached(tmp_path) as other:
        other.detach("fast")
    detached.set()
    assert (list(query), query.end) == ([], End.DETACHED)


@pytest.mark.usefixtures("small_parts")
def test_one_who_takes_nothing_holds_up_nobody(house: House, control: Control, tmp_path: Path) -> None:
    house.push(pa.concat_tables([cars(90)] * 2_000))
    with reached(tmp_path) as lazy:
        lazy.attach(fast())
        with control.attach(fast()) as query:
            found = iter(query)
            assert sum(next(found)[1].num_rows for _ in range(3)) == 300
            house.push(cars(90))


def test_one_who_takes_nothing_for_long_is_taken_to_be_gone(house: House, tmp_path: Path) -> None:
    server = ControlServer(house, tmp_path, patience_s=0.05)
    house.push(cars(90))
    with reached(tmp_path) as control:
        query = control.attach(fast())
        house.until(lambda: not house.queries)
        found = iter(query)
        assert next(found)[1].num_rows == 1
        with pytest.raises(EngineError, match="the client: took nothing for 0 s; expected tables"):
            next(found)
    server.close()


def test_while_a_query_is_read(control: Control) -> None:
    query = control.attach(fast())
    control.say({"request": "took", "output": "slow"})
    with pytest.raises(EngineError, match="there is no output 'slow'; expected one of fast"):
        control.hear()
    assert control.attached() == {}
    control.attach(fast())
    control.say({"request": "status"})
    with pytest.raises(EngineError, match="'status' cannot be asked while a query is read; expected took or"):
        control.hear()
    assert control.attached() == {}
    query.close()


def test_a_query_that_fails(house: House, control: Control) -> None:
    query = control.attach(fast())
    attached = house.queries[query.name]
    with house.changed:
        attached.found[query.name] = None  # type: ignore[assignment]
        house.changed.notify_all()
    with pytest.raises(EngineError, match="node: failed: TypeError"):
        list(query)
    house.until(lambda: not house.queries)


# --- the end


def test_the_end_of_the_node(house: House, tmp_path: Path) -> None:
    """Who reads a query is told, and the query goes unless it is kept; who asks later finds nobody."""
    server = ControlServer(house, tmp_path)
    with reached(tmp_path) as one, reached(tmp_path) as two, reached(tmp_path) as idle:
        query, kept = one.attach(fast(), name="goes"), two.attach(fast(), name="kept", keep=True)
        server.close()
        server.close()
        assert set(house.queries) == {"kept"}
        assert (list(query), query.end) == ([], End.STOPPED)
        assert (list(kept), kept.end) == ([], End.STOPPED)
        query.close()
        with pytest.raises(EngineError, match=r"its node, process [0-9]+, has gone; what it had committed"):
            idle.statistics()
    assert reach(tmp_path) is None
    assert not (tmp_path / FILE).exists()
    assert not Path(server.place.address).parent.exists()
    house.detach("kept")


@pytest.mark.usefixtures("small_parts")
def test_the_end_of_the_node_does_not_wait_for_those_who_hang(house: House, tmp_path: Path) -> None:
    server = ControlServer(house, tmp_path)
    silent = bare(server)
    house.push(pa.concat_tables([cars(90)] * 2_000))
    with reached(tmp_path) as lazy:
        lazy.attach(fast())
        server.close()
    silent.close()
    assert house.queries == {}


# --- what a killed node leaves


def test_queries_of_clients_that_a_killed_node_has_left(house: House, tmp_path: Path) -> None:
    """They go when the next node runs its network; those that were kept stay."""
    house.attach(fast(), name="guest")
    house.attach(fast(), name="kept")
    Guests(tmp_path).add("guest")
    Guests(tmp_path).add("never")
    server = ControlServer(house, tmp_path)
    server.sweep()
    assert set(house.queries) == {"kept"}
    assert not (tmp_path / GUESTS).exists()
    with reached(tmp_path) as control, control.join("kept", follow=False) as query:
        assert list(query) == []
    server.close()


def test_a_query_that_cannot_go_now_goes_later(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> None:
        raise EngineError(Problem(name, "is paused before it could be changed"))

    server = ControlServer(house, tmp_path)
    with reached(tmp_path) as control, monkeypatch.context() as paused:
        control.attach(fast(), name="guest")
        paused.setattr(house, "detach", refuse)
        server.close()
    assert (set(house.queries), Guests(tmp_path).names) == ({"guest"}, {"guest"})
    again = ControlServer(house, tmp_path)
    again.sweep()
    assert (house.queries, Guests(tmp_path).names) == ({}, set())
    again.close()


def test_a_query_that_is_refused_is_no_guest(control: Control, tmp_path: Path) -> None:
    """Nor does one of the same name become one."""
    control.attach(fast(), name="kept", keep=True).close()
    with pytest.raises(EngineError, match="kept: is attached already"):
        control.attach(fast(), name="kept")
    assert not (tmp_path / GUESTS).exists()
    with control.attach(fast(), name="guest"):
        assert Guests(tmp_path).names == {"guest"}
    assert not (tmp_path / GUESTS).exists()


def test_a_node_that_ends_at_once_leaves_its_guests_to_the_next_one(house: House, tmp_path: Path) -> None:
    """To take a query away may take as long as the trains on their way."""
    server = ControlServer(house, tmp_path)
    with reached(tmp_path) as control:
        query = control.attach(fast(), name="guest")
        server.close(now=True)
        assert (list(query), query.end) == ([], End.STOPPED)
    assert (set(house.queries), Guests(tmp_path).names) == ({"guest"}, {"guest"})
    house.detach("guest")


def test_guests_in_a_file_that_is_damaged(house: House, tmp_path: Path) -> None:
    (tmp_path / GUESTS).write_text('["half')
    server = ControlServer(house, tmp_path)
    server.sweep()
    server.close()
    assert Guests(tmp_path).names == set()
