"""Curves of any shape, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from australis.algebra.quality import Points, ValueGraph


@st.composite
def curves(draw: st.DrawFn) -> Points:
    """The points of a value graph."""
    xs = sorted(draw(st.sets(st.integers(-50, 50), min_size=1, max_size=6)))
    ys = draw(st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=len(xs), max_size=len(xs)))
    ys[draw(st.integers(0, len(ys) - 1))] = 1
    return ValueGraph("v", tuple(zip(xs, ys, strict=True))).points
