"""Live progress: everything is in the picture on a terminal, and nothing is written where there is none."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from australis.app.showing.progress import Picture, ProgressSample, announce, draw_live
from australis.engine.observe.statistics import (
    BoxStatistics,
    OutputStatistics,
    Statistics,
    SuperboxStatistics,
)


def sample(seconds: float) -> ProgressSample:
    tuples = round(1000 * seconds)
    statistics = Statistics(
        "soldiers",
        tuples,
        {"across": BoxStatistics(tuples, tuples // 4, 7, 0, 2, 0, 5000 * tuples, 3)},
        {"alarms": OutputStatistics(tuples // 4, 85.2, 1234.5, None, {})},
        {"across": SuperboxStatistics(("across",), 34, 0, 3, 10.0, 84.0)},
        {},
        waiting=17,
    )
    return ProgressSample(seconds, {"reports": tuples}, statistics)


def drawn(picture: Picture) -> list[list[str]]:
    text = StringIO()
    Console(file=text, width=120).print(picture.draw())
    return [line.split() for line in text.getvalue().splitlines()]


def test_the_picture() -> None:
    samples = iter([sample(0.0), sample(2.0)])
    picture = Picture(lambda: next(samples))
    drawn(picture)
    lines = drawn(picture)
    assert lines[0] == ["soldiers", "2", "s", "in", "1,000/s", "out", "250/s", "waiting", "17"]
    assert ["reports", "2,000", "1,000"] in lines
    assert ["alarms", "500", "250", "0", "85", "ms", "1.2", "s"] in lines
    assert ["across", "2,000", "500", "0.250", "5.00", "µs", "7", "2"] in lines


def test_on_a_terminal_it_is_drawn_and_gone_at_the_end() -> None:
    text = StringIO()
    console = Console(file=text, width=120, force_terminal=True)
    with draw_live(console, lambda: sample(1.0)):
        pass
    assert "soldiers" in text.getvalue()
    assert text.getvalue().endswith("\x1b[2K")


def test_where_there_is_no_terminal_there_is_silence() -> None:
    text = StringIO()
    console = Console(file=text)
    with draw_live(console, lambda: sample(1.0)), announce(console, "Starting Spark") as seconds:
        pass
    assert text.getvalue() == ""
    assert seconds[0] >= 0
