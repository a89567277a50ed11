"""Random plans of distributed eddies, and routings for them."""

from __future__ import annotations

from hypothesis import strategies as st

from australis.policy.route.plan import DistributedPlan, Operator, RoutedStream, plan_of

NAMES = ("a", "b", "c", "d")
_UNITS = st.floats(0.1, 10)


@st.composite
def operators(draw: st.DrawFn, most: int = 4) -> tuple[Operator, ...]:
    names = NAMES[: draw(st.integers(2, most))]
    return tuple(Operator(name, draw(_UNITS), draw(st.floats(0.05, 1.5)), draw(_UNITS)) for name in names)


@st.composite
def streams(draw: st.DrawFn, id_: str, names: tuple[str, ...], share: float) -> RoutedStream:
    """Some of the operators, each after some of those before it."""
    visited = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    visits = {
        op: frozenset(draw(st.sets(st.sampled_from(visited[:index])))) if index else frozenset()
        for index, op in enumerate(visited)
    }
    return RoutedStream(id_, visits, share)


@st.composite
def plans(draw: st.DrawFn) -> DistributedPlan:
    ops = draw(operators())
    names = tuple(op.id for op in ops)
    share = draw(st.floats(0.1, 0.9))
    return plan_of(ops, (draw(streams("x", names, share)), draw(streams("y", names, 1 - share))))


@st.composite
def weights(draw: st.DrawFn, plan: DistributedPlan) -> dict[tuple[str, str], float]:
    """A weight for every step that anything could take."""
    sources = [*(stream.id for stream in plan.streams), *plan.operators]
    steps = [(at, to) for at in sources for to in plan.operators if at != to]
    return {step: draw(st.floats(0.01, 1)) for step in steps}
