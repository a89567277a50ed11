"""Small networks for the tests of the limit: stages that some outputs share, and graphs of quality."""

from __future__ import annotations

from hypothesis import strategies as st

from australis.algebra.quality import Points, Quality
from australis.policy.limit import Work, attainable

STAGES, OUTPUTS = "pqrs", "xyz"
TENTHS = st.integers(0, 10).map(lambda each: each / 10)


@st.composite
def concave(draw: st.DrawFn) -> Points:
    """A loss graph along which each further tuple lost costs at least as much as the one before."""
    steps = sorted(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)), reverse=True)
    first = draw(st.integers(0, 5))
    whole, heights = first + sum(steps), [first]
    for step in steps:
        heights.append(heights[-1] + step)
    return tuple((index / len(steps), height / whole) for index, height in enumerate(heights))


@st.composite
def qualities(draw: st.DrawFn) -> Quality:
    """Any mixture of a delay and a loss graph, and a weight."""
    last = draw(st.sampled_from((0.0, 0.0, 0.25)))
    delay = draw(st.sampled_from(((), ((1.0, 1.0), (3.0, last)))))
    return Quality(delay=delay, loss=draw(st.just(()) | concave()), weight=draw(st.integers(1, 5)))


@st.composite
def works(draw: st.DrawFn) -> Work:
    """A network of up to four stages and three outputs, each of which needs some of them."""
    stages = {name: draw(TENTHS) for name in STAGES}
    ways = {
        name: tuple(sorted(draw(st.sets(st.sampled_from(STAGES), max_size=4))))
        for name in OUTPUTS[: draw(st.integers(1, 3))]
    }
    return Work(stages, ways, {name: attainable(draw(qualities())) for name in ways})
