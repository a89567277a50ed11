"""Situations for the tests of policies: made of ways and queues, or random."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hypothesis import strategies as st

from australis.algebra.quality import Quality
from australis.policy.load import Goal, Situation, Stage

MOST = 1_000_000
NAMES = st.sampled_from("abcde")
WAYS = st.dictionaries(st.text("xyz", max_size=2), st.lists(NAMES, unique=True, max_size=4), max_size=5)
NOW = 100_000_000


def situation(
    ways: Mapping[str, Sequence[str]], waiting: Mapping[str, int], busy: Collection[str] = ()
) -> Situation:
    """A node on which some tuples wait, and some stages are busy."""
    names = {*waiting, *(name for way in ways.values() for name in way)}
    stages = {
        name: Stage(
            name,
            outputs=frozenset(output for output, way in ways.items() if name in way),
            waiting=waiting.get(name, 0),
            oldest=NOW - 1_000_000 if name in waiting else None,
            rate=100.0,
            tuple_us=10.0,
            train_us=30_000.0,
        )
        for name in sorted(names)
    }
    goals = {name: Goal(name, Quality(), tuple(way)) for name, way in ways.items()}
    return Situation(NOW, stages, goals, busy=frozenset(busy))


@st.composite
def delay_graphs(draw: st.DrawFn) -> Quality:
    """A quality with a delay graph that falls from 1 to 0, and a weight."""
    end = draw(st.floats(0.01, 30))
    gone = end + draw(st.floats(0.01, 30))
    return Quality(delay=((end, 1), (gone, 0)), weight=draw(st.floats(0.01, 50)))


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    """A node in any state: shared stages, graphs of any kind, queues and costs of any size."""
    ways = draw(
        st.dictionaries(st.sampled_from("xyzw"), st.lists(NAMES, unique=True, min_size=1), min_size=1)
    )
    stages = {}
    for name in sorted({name for way in ways.values() for name in way}):
        waiting = draw(st.integers(0, 10**9) | st.just(0))
        stages[name] = Stage(
            name,
            outputs=frozenset(output for output, way in ways.items() if name in way),
            waiting=waiting,
            oldest=NOW - draw(st.integers(0, NOW)) if waiting else None,
            rate=draw(st.floats(0, 1e7)),
            tuple_us=draw(st.floats(0, 1e4)),
            train_us=draw(st.floats(0, 1e6)),
        )
    delays = st.none() | st.floats(0, 1e4)
    goals = {
        name: Goal(name, draw(delay_graphs() | st.just(Quality())), tuple(way), draw(delays))
        for name, way in ways.items()
    }
    busy = draw(st.sets(st.sampled_from(sorted(stages))))
    return Situation(NOW, stages, goals, draw(st.integers(1, 8)), busy=frozenset(busy))
