"""Signals that end a run: each unwinds it once, and none is lost."""

from __future__ import annotations

import signal

import pytest

from australis.app.running.stopping import Stop, stoppable


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_signal_unwinds(number: signal.Signals, error: type[BaseException]) -> None:
    before = signal.getsignal(number)
    with pytest.raises(error), stoppable():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_a_signal_that_a_library_swallowed_is_heard_at_the_next_turn() -> None:
    stop = Stop()
    with pytest.raises(KeyboardInterrupt):
        stop.hear(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        stop.check()


def interrupted(times: int) -> list[str]:
    """How far something deferred comes that hears so many signals."""
    stop, reached = Stop(), []
    try:
        with stop.defer():
            for _ in range(times):
                stop.hear(signal.SIGINT)
            reached.append("the end")
    except KeyboardInterrupt:
        reached.append("interrupted")
    return reached


def test_a_signal_waits_until_an_output_is_open_but_not_for_ever() -> None:
    assert [interrupted(times) for times in (0, 1, 2)] == [
        ["the end"],
        ["the end", "interrupted"],
        ["interrupted"],
    ]


def test_the_clean_up_is_not_disturbed() -> None:
    stop = Stop()
    with pytest.raises(SystemExit):
        stop.hear(signal.SIGTERM)
    stop.hear(signal.SIGINT)
    stop.too_late()
    stop.check()


def test_what_a_shell_has_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def asked(times: int) -> list[str]:
    """What becomes of something that ends by itself and hears so many signals."""
    stop, heard = Stop(), []
    try:
        with stop.gently(lambda: heard.append("asked")):
            for _ in range(times):
                stop.hear(signal.SIGINT)
            heard.append("the end")
    except KeyboardInterrupt:
        heard.append("interrupted")
        stop.hear(signal.SIGINT)
    return heard


def test_the_first_signal_asks_and_the_second_one_unwinds() -> None:
    assert [asked(times) for times in (0, 1, 2)] == [
        ["the end"],
        ["asked", "the end"],
        ["asked", "interrupted"],
    ]


def test_handlers_of_a_library_are_replaced_and_taken_out_at_the_end() -> None:
    before = signal.getsignal(signal.SIGINT)
    heard: list[str] = []
    with stoppable() as stop:
        signal.signal(signal.SIGINT, lambda number, frame: heard.append("library"))
        with stop.gently(lambda: heard.append("asked")):
            signal.raise_signal(signal.SIGINT)
        assert (heard, stop.code) == (["asked"], 130)
    assert signal.getsignal(signal.SIGINT) is before
