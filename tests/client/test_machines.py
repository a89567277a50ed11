"""The parts of the client that decide: when a request is sent again, and how an output is followed."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from australis.client.place import Place
from australis.client.reading import Following, Missed
from australis.client.retries import Attempts, Backoff, Unreachable
from australis.client.tuples import Receipt, bodies
from australis.client.volume import Piece
from australis.client.wire import ARROW, JSON, Answer, Request, error_of
from australis.errors import ErrorCode, Problem, ServiceError

LOST, NEVER_SENT = Unreachable("lost", arrived=True), Unreachable("refused", arrived=False)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def refusal(status: int, code: str, after: str | None = None) -> Answer:
    body = json.dumps({"error": {"code": code, "message": "no", "path": "n.a", "hint": "yes"}}).encode()
    return Answer(status, {} if after is None else {"retry-after": after}, body)


@pytest.mark.parametrize(
    ("request_", "outcome", "is_repeated"),
    [
        (Request.of("GET", "/x"), LOST, True),
        (Request.of("POST", "/x", repeatable=False), LOST, False),
        (Request.of("POST", "/x", repeatable=False), NEVER_SENT, True),
        (Request.of("POST", "/x", repeatable=False), refusal(429, "too_many"), True),
        (Request.of("GET", "/x"), refusal(503, "stopping"), True),
        (Request.of("GET", "/x"), refusal(422, "invalid_tuples"), False),
        (Request.of("GET", "/x"), Answer(200, {}, b"{}"), False),
    ],
)
def test_which_requests_are_sent_again(
    request_: Request, outcome: Answer | Unreachable, is_repeated: bool
) -> None:
    attempts = Attempts(request_, Backoff(), "http://node", Clock())
    assert (attempts.wait_s(outcome) is not None) == is_repeated


def test_waits_grow_up_to_the_time_that_the_node_says_and_end() -> None:
    clock = Clock()
    attempts = Attempts(Request.of("GET", "/x"), Backoff(total_s=20), "http://node", clock)
    assert attempts.wait_s(refusal(429, "too_many", "7")) == 7
    waits = []
    while (wait := attempts.wait_s(LOST)) is not None:
        clock.now += wait
        waits.append(wait)
    assert 5 < len(waits) < 20
    assert max(waits) <= 5
    with pytest.raises(ServiceError, match="http://node: cannot be reached: lost") as raised:
        attempts.result(LOST)
    assert raised.value.code is ErrorCode.NOT_READY


def test_an_error_is_raised_as_the_node_says_it() -> None:
    with pytest.raises(ServiceError) as raised:
        refusal(429, "too_many", "2").check()
    assert raised.value.problem == Problem("n.a", "no", "yes")
    assert (raised.value.code, raised.value.retry_after_s) == (ErrorCode.TOO_MANY, 2.0)
    with pytest.raises(ServiceError, match="answered 502: <html>") as raised:
        Answer(502, {}, b"<html>").check()
    assert raised.value.code is ErrorCode.NOT_READY
    assert error_of({"code": "of another version"}).code is ErrorCode.INTERNAL


def test_what_was_removed_by_an_attempt_whose_answer_was_lost() -> None:
    attempts = Attempts(Request.of("DELETE", "/x"), Backoff(), "http://node", Clock())
    with pytest.raises(ServiceError):
        attempts.result(refusal(404, "not_found"))
    attempts.wait_s(LOST)
    assert attempts.result(refusal(404, "not_found")).status == 200


def following(begin: int = 0, **given: object) -> Following:
    return Following("out", begin, None, True, Backoff(total_s=10), "http://node", Clock(), **given)  # type: ignore[arg-type]


def piece(begin: int, end: int) -> Piece:
    return Piece(pa.table({"#seq": pa.array(range(begin, end), pa.int64())}), end)


def test_a_stream_that_is_read_again_has_no_gap_and_no_duplicate() -> None:
    told: list[Missed] = []
    stream = following(on_missed=told.append)
    found = [stream.takes(each) for each in (piece(0, 10), piece(5, 12), piece(3, 9))]
    assert [None if table is None else table["#seq"].to_pylist() for table in found] == [
        list(range(10)),
        [10, 11],
        None,
    ]
    assert stream.begin == 12
    assert stream.takes(Piece(None, 20, (5, 20))) is None
    assert stream.begin == 20
    assert told == stream.missed == [Missed(12, 20)]


def test_what_is_followed_is_given_up_after_a_while_and_an_error_at_once() -> None:
    stream = following()
    clock = stream.clock
    assert isinstance(clock, Clock)
    assert stream.wait_s(LOST) > 0
    clock.now = 9
    assert stream.wait_s(ServiceError(ErrorCode.TOO_MANY, Problem("", "x"), 3.0)) >= 3
    clock.now = 11
    with pytest.raises(ServiceError, match="cannot be reached"):
        stream.wait_s(LOST)
    stream.takes(piece(0, 1))
    assert stream.wait_s(LOST) > 0, "it was reached again"
    with pytest.raises(ServiceError, match="gone"):
        stream.wait_s(ServiceError(ErrorCode.GONE, Problem("", "gone")))


def test_what_can_be_pushed() -> None:
    table = pa.table({"x": range(3_000_000)})
    assert {body.media_type for body in bodies(table)} == {ARROW}
    assert len(list(bodies(table))) == 3
    (body,) = bodies([{"x": 1}])
    assert body.media_type == JSON
    (body,) = bodies(table.slice(0, 2).to_pandas())
    assert pa.ipc.open_stream(body.content).read_all()["x"].to_pylist() == [0, 1]
    (body,) = bodies(table.slice(0, 0))
    assert body.media_type == ARROW
    with pytest.raises(ServiceError, match="tuples: a int is no batch"):
        list(bodies(7))
    assert Receipt(1, end=3) + Receipt(2, end=9) == Receipt(3, end=9)


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http://user:secret@host", "http://h:1?token=x"])
def test_what_is_no_address_and_its_secrets_are_not_shown(url: str) -> None:
    with pytest.raises(ServiceError, match="is no address") as raised:
        Place.of(url)
    assert "secret" not in str(raised.value)


def test_a_token_goes_nowhere_unencrypted() -> None:
    with pytest.raises(ServiceError, match=r"would go to node\.example unencrypted"):
        Place.of("http://node.example:8400", "secret").http()
    place = Place.of("http://127.0.0.1:8400", "secret")
    assert "secret" not in repr(place)
    assert place.http()["trust_env"] is False
