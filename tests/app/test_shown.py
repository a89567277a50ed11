"""Statistics as tables: legible in 80 and in 120 columns, and everything that matters is in them."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console, RenderableType

from australis.app.commands.stats import _picture
from australis.app.showing import statistics_tables as shown
from australis.app.showing.progress import Picture, ProgressSample
from australis.engine.ledger.counts.drops import Entry
from australis.engine.ledger.counts.recent_counts import GateCount
from australis.engine.observe.marks import InputMarkStatistics, OrderMarkStatistics
from australis.engine.observe.quality import OutputQuality, QualityReport
from australis.engine.observe.statistics import (
    BoxStatistics,
    OutputStatistics,
    Statistics,
    SuperboxStatistics,
)
from australis.policy.limit import Losses

FULL = OutputQuality(1_000, 80.0, 120.0, 150.0, 1.0, 0.05, None, 5.0, 1.0, 1.0, 1.0, 5.0)
POOR = OutputQuality(700, 80.0, 1_500.0, 1_900.0, 0.702, 12.0, (1, 2), 0.35, 0.7, 0.75, 0.667, 1.0)
NONE = OutputQuality(0, None, None, None, 1.0, None, None, None, None, None, None, 2.0)
SINCE = (9 * 3600 + 30 * 60) * 1_000_000
LEVEL = Entry(2, "summary", "arc_0", "level < 20.5 AND kind = 'note'", 1.0, SINCE, None, 4_000_000, 1_192_000)
GONE = Entry(1, "summary", "arc_0", "", 0.25, SINCE, SINCE + 5_000_000, 400, 100)


def statistics(**given: object) -> Statistics:
    known = Statistics(
        "plant",
        7,
        {"summary": BoxStatistics(2_808_000, 2_000, 0, 0, 0, 0, 10**9, 9)},
        {
            "guard": OutputStatistics(1_000, 80.0, 120.0, 150.0, {}),
            "report": OutputStatistics(
                2_000, 80.0, 1_500.0, 1_900.0, {}, 0.702, 7, 1_192_100, 3, 17, utility=0.35, weight=1.0
            ),
        },
        {"summary": SuperboxStatistics(("summary",), 34, 0, 9, 25.0, 84.0, ("report",), {})},
        {},
        waiting=17,
    )
    return Statistics(**{**vars(known), **given})


GRAPHS = {
    "quality": QualityReport(
        10, {"guard": FULL, "report": POOR, "idle": NONE}, 5.35, 6.0, 0.81, Losses(5.9, 0.3, 0.25, 0.0, 0.0)
    ),
    "dropboxes": (GONE, LEVEL),
    "shed": {"report": 1_192_100},
}


def lines(what: RenderableType, width: int = 80) -> list[str]:
    text = StringIO()
    Console(file=text, width=width, highlight=False).print(what)
    return [line.rstrip() for line in text.getvalue().splitlines()]


def squeezed(found: list[str]) -> list[str]:
    """Lines without the blanks that put their columns in place."""
    return [" ".join(line.split()) for line in found]


@pytest.mark.parametrize("width", [80, 120])
def test_stats_with_graphs(width: int) -> None:
    found = lines(_picture(statistics(**GRAPHS)), width)
    words = squeezed(found)
    assert found[0] == "plant: 17 tuples wait"
    assert found[2] == "utility 5.35 of 6 over the last 10 s"
    assert "at this load 5.90 is possible (lost: scheduling 0.30, shed late 0.25); fairness 0.81" in " ".join(
        words
    )
    assert "guard 5.00 of 5 1.00 1.00 1.00 100.0% 120 ms 50 ms" in words
    assert "report 0.35 of 1 0.70 0.75 0.67 70.2% 1.5 s 12.0 s" in words
    assert "idle - - - - 100.0% - -" in words
    if width == 120:
        assert "output tuples late shed quarantined waiting delivered delay p50 p95 utility" in words
        assert "report 2,000 7 1,192,100 3 17 70.2% 80 ms 1.5 s 0.35 of 1" in words
        assert "guard 1,000 0 0 0 0 100.0% 80 ms 120 ms -" in words
    assert "summary summary 34 9 25 84 ms" in words, "by superbox, each counts what waits for it"
    (row,) = [line for line in found if line.startswith("2 ")]
    for part in ("summary (arc_0)", "09:30:00", "4,000,000", "1,192,000"):
        assert part in row
    assert not any(line.startswith("1 ") for line in found), "it stands no more"
    assert not any("…" in line for line in found), "nothing is cut"


def test_stats_with_marks() -> None:
    told = statistics(
        marks={
            "gate": InputMarkStatistics("at", "1970-01-01T09:29:50Z", 10.0, SINCE),
            "dock": InputMarkStatistics("at", None, None, None),
        },
        orders=(
            OrderMarkStatistics("counts", "", "at", None, "dock"),
            OrderMarkStatistics("pairs", "right", "at", "1970-01-01T09:29:50Z", "gate"),
        ),
    )
    found = squeezed(lines(_picture(told)))
    for line in (
        "input marks of mark behind the clock quiet since",
        "gate at 1970-01-01T09:29:50Z 10.0 s 1970-01-01 09:30:00",
        "dock at none yet - -",
        "order by progress on mark held back by",
        "counts at none yet dock",
        "pairs (right) at 1970-01-01T09:29:50Z gate",
    ):
        assert line in found
    assert "progress" not in " ".join(lines(_picture(statistics())))


def test_all_that_was_shed() -> None:
    found = squeezed(lines(shown.dropboxes([GONE, LEVEL], ended=True), 120))
    assert "1 summary (arc_0) 25.0% of all 1970-01-01 09:30:00 1970-01-01 09:30:05 400 100" in found
    assert any(line.startswith("2 summary (arc_0)") and " 1970-01-01 09:30:00 - " in line for line in found)


def test_where_nothing_was_due() -> None:
    idle = statistics(quality=QualityReport(10, {"idle": NONE}, 0.0, 0.0))
    assert lines(_picture(idle))[2] == "nothing was due over the last 10 s"


def test_inputs_that_are_held_back() -> None:
    full = statistics(bytes=2_100_000_000, disk=2_000_000_000)
    for picture in (_picture(full), Picture(lambda: ProgressSample(1.0, {}, full)).draw()):
        assert lines(picture)[1] == "inputs are held back: 2.1 GB of 2 GB on disk"
    assert lines(_picture(statistics(bytes=10, disk=2_000)))[1] == "10 B of 2 kB on disk"
    assert shown.room(statistics()) is None


def test_progress_tells_what_is_shed() -> None:
    def sample(seconds: float, shed: int) -> ProgressSample:
        superbox = SuperboxStatistics(
            ("summary",), 17, 0, 9, 25.0, 84.0, ("report",), {"arc_0": GateCount(10_000, shed)}
        )
        return ProgressSample(seconds, {}, statistics(**GRAPHS, superboxes={"summary": superbox}))

    samples = iter([sample(0.0, 0), sample(2.0, 3_000)])
    picture = Picture(lambda: next(samples))
    assert "utility 5.35 of 6 over the last 10 s" in lines(picture.draw())
    found = lines(picture.draw())
    assert "utility 5.35 of 6 over the last 10 s, shedding 1,500/s" in found
    assert any(line.startswith("2 ") and "level < 20.5" in line for line in found)
