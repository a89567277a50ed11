"""Static analysis: the paper's iteration by hand, verdicts, feasible delays, and their laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network, Ref
from australis.algebra.order import Order
from australis.algebra.quality import Quality
from australis.policy.analysis import Analysis, Cost, Costs, Hardware, Verdict, analyse, rates

COSTS = {
    "route": Cost(10, (0.2, 0.5, 0.3)),
    "slow": Cost(100),
    "both": Cost(5),
    "count": Cost(20, (0.1,)),
}


def routed(quality: Quality | None = None) -> Network:
    """Two inputs; one is routed, a port of it is computed and merged with the other, and counted."""
    net = NetworkBuilder("routed")
    far, near, _ = net.input("a", "x int, time long").route("x > 80", "x > 30", as_="route")
    slow = near.map({"x": "x + 1", "time": "time"}, as_="slow")
    both = slow.union(net.input("b", "x int, time long"), as_="both")
    both.aggregate({"n": "count(*)"}, Order("time"), size=10, as_="count").output("counts", quality)
    far.output("far")
    return net.build()


def analysed(machine: Hardware, a: float = 10_000, b: float = 1_000, **given: object) -> Analysis:
    return analyse(routed(), {"a": a, "b": b}, Costs(COSTS, **given), machine)  # type: ignore[arg-type]


def test_the_iteration_by_hand() -> None:
    found = analysed(Hardware(capacity=1))
    emitted = {name: (load.received, load.emitted) for name, load in found.boxes.items()}
    assert emitted == {
        "route": (10_000, 7_000),
        "slow": (5_000, 5_000),
        "both": (6_000, 6_000),
        "count": (6_000, 600),
    }, "the third port of the route goes to nobody"
    cores = {name: load.cores for name, load in found.boxes.items()}
    assert cores == pytest.approx({"route": 0.1, "slow": 0.5, "both": 0.03, "count": 0.12})
    assert found.min_cap == pytest.approx(0.75)
    assert {name: load.received for name, load in found.outputs.items()} == {"counts": 600, "far": 2_000}


def test_what_is_possible_stops_at_the_throughput_of_a_box() -> None:
    found = analysed(Hardware(capacity=1), a=60_000)
    slow, both = found.boxes["slow"], found.boxes["both"]
    assert (slow.received, slow.received_possible, slow.emitted_possible) == (30_000, 30_000, 10_000)
    assert (both.received, both.received_possible) == (31_000, 11_000)
    assert found.outputs["counts"].received_possible == pytest.approx(1_100)
    assert found.bottleneck == "slow"
    assert found.verdict is Verdict.OVERLOADED


def test_more_cores_let_a_box_do_more_unless_it_has_one_partition() -> None:
    assert analysed(Hardware(capacity=2), a=60_000).boxes["slow"].emitted_possible == 20_000
    single = Hardware(capacity=2, single=(("slow", "both"),))
    assert analysed(single, a=60_000).boxes["slow"].emitted_possible == 10_000


@pytest.mark.parametrize(
    ("capacity", "headroom", "verdict", "excess", "shed"),
    [
        (1, 1, Verdict.FITS, 0, 0),
        (1, 0.8, Verdict.FITS, 0, 0),
        (1, 0.6, Verdict.TIGHT, 0.15, 0.2),
        (0.5, 1, Verdict.OVERLOADED, 0.25, 1 / 3),
        (0.5, 0.5, Verdict.OVERLOADED, 0.5, 2 / 3),
    ],
)
def test_verdicts(capacity: float, headroom: float, verdict: Verdict, excess: float, shed: float) -> None:
    found = analysed(Hardware(capacity, headroom))
    assert found.verdict is verdict
    assert found.excess == pytest.approx(excess)
    assert found.shed == pytest.approx(shed)


def test_boxes_of_one_partition_have_one_core_between_them() -> None:
    together = ("slow", "both", "count")
    found = analysed(Hardware(4, single=(together,)), a=20_000)
    assert found.crowded == (together,)
    assert found.verdict is Verdict.OVERLOADED
    need = sum(found.boxes[box].cores for box in together)
    assert need == pytest.approx(1.275)
    assert found.excess == pytest.approx(need - 1)
    assert found.shed == pytest.approx(1 - 1 / need)
    assert analysed(Hardware(4), a=20_000).verdict is Verdict.FITS


def test_the_ends_need_time_too() -> None:
    found = analysed(Hardware(), inputs_us={"a": 2, "b": 3}, outputs_us={"far": 10})
    assert found.inputs["a"].cores == pytest.approx(0.02)
    assert found.outputs["far"].cores == pytest.approx(0.02)
    assert found.min_cap == pytest.approx(0.75 + 0.02 + 0.003 + 0.02)


def delays_of(delta: float, **given: object) -> Analysis:
    network = routed(Quality(delay=((0, 1), (delta, 1), (delta * 2, 0))))
    return analyse(network, {"a": 1, "b": 1}, Costs(COSTS, **given), Hardware())  # type: ignore[arg-type]


def test_a_good_zone_that_ends_before_the_longest_path_is_infeasible() -> None:
    (delay,) = delays_of(0.000_134).infeasible
    assert delay.output == "counts"
    assert delay.path == ("a", "route", "slow", "both", "count")
    assert delay.least_s == pytest.approx(0.000_135)
    assert delays_of(0.000_136).infeasible == ()


def test_trains_and_ends_are_part_of_the_least_delay() -> None:
    (delay,) = delays_of(1, inputs_us={"a": 2}, outputs_us={"counts": 3}, train_us=80_000).delays
    assert delay.least_s == pytest.approx(0.080_14)
    assert delay.is_feasible


def test_an_output_without_a_good_zone_is_never_infeasible() -> None:
    assert analysed(Hardware(), train_us=1e9).delays == ()


def test_a_stored_table_brings_no_load_and_no_path() -> None:
    net = NetworkBuilder("named")
    names = net.table("names", "sid int, name string")
    pos = net.input("pos", "sid int, time long")
    graph = Quality(delay=((0, 1), (1, 1), (2, 0)))
    pos.join(names, "left.sid = right.sid", left=Order("time"), as_="name").output("named", graph)
    found = analyse(net.build(), {"pos": 100}, Costs({"name": Cost(10, (2.0,))}), Hardware())
    assert (found.boxes["name"].received, found.boxes["name"].emitted) == (100, 200)
    assert found.delays[0].path == ("pos", "name")


def test_nothing_costs_nothing() -> None:
    net = NetworkBuilder("through")
    net.input("a", "x int").output("b")
    found = analyse(net.build(), {"a": 5}, Costs({}), Hardware())
    assert (found.min_cap, found.shed, found.bottleneck, found.verdict) == (0, 0, None, Verdict.FITS)
    free = analyse(routed(), {"a": 5, "b": 5}, Costs(dict.fromkeys(COSTS, Cost(0, (1, 1, 1)))), Hardware())
    assert free.bottleneck is None


# --- laws

RATE = st.floats(0.001, 1e7)
COST = st.floats(0, 1e4)


@given(st.lists(RATE, min_size=2, max_size=5))
def test_a_union_keeps_every_tuple(given_rates: list[float]) -> None:
    net = NetworkBuilder("merged")
    first, *others = [net.input(f"i{n}", "x int") for n in range(len(given_rates))]
    first.union(*others, as_="all").output("out")
    inputs = {f"i{n}": rate for n, rate in enumerate(given_rates)}
    found = rates(net.build(), inputs, {"all": Cost(1)})
    assert found[Ref("all")] == pytest.approx(sum(given_rates))


@given(RATE, RATE, st.floats(0.1, 100))
def test_needs_go_with_the_rates(a: float, b: float, times: float) -> None:
    once, more = analysed(Hardware(), a, b), analysed(Hardware(), a * times, b * times)
    assert more.min_cap == pytest.approx(once.min_cap * times)
    for box in COSTS:
        assert more.boxes[box].cores == pytest.approx(once.boxes[box].cores * times)


@given(st.lists(st.tuples(COST, COST), min_size=4, max_size=4), RATE, st.floats(0, 1e6))
def test_min_cap_never_falls(pairs: list[tuple[float, float]], a: float, more: float) -> None:
    by_box = dict(zip(COSTS, pairs, strict=True))
    low, high = ({box: Cost(f(by_box[box]), COSTS[box].selectivity) for box in COSTS} for f in (min, max))
    least = analyse(routed(), {"a": a, "b": 1}, Costs(low), Hardware()).min_cap
    assert least <= analyse(routed(), {"a": a, "b": 1}, Costs(high), Hardware()).min_cap
    assert least <= analyse(routed(), {"a": a + more, "b": 1}, Costs(low), Hardware()).min_cap


@given(RATE, RATE, st.floats(0.1, 64), st.floats(0.01, 1), st.booleans())
def test_what_is_left_after_shedding_fits(
    a: float, b: float, capacity: float, headroom: float, together: bool
) -> None:
    machine = Hardware(capacity, headroom, (("slow", "both"),) if together else ())
    found = analysed(machine, a, b)
    kept = (1 - found.shed) * (1 - 1e-9)
    left = analysed(machine, a * kept, b * kept)
    assert left.verdict is Verdict.FITS
    assert (found.shed > 0) == (found.excess > 0)


@given(RATE, RATE, st.floats(0.1, 64))
def test_possible_rates_do_not_exceed_the_demanded_ones(a: float, b: float, capacity: float) -> None:
    for load in analysed(Hardware(capacity), a, b).boxes.values():
        assert load.received_possible <= load.received * (1 + 1e-12)
        assert load.emitted_possible <= load.emitted * (1 + 1e-12)
