"""Aurora* (CIDR 2003): Figure 2 through a Tumble box, and the split Tumble box of Figure 6."""

from __future__ import annotations

from tests.golden.engines import Engine

from australis.algebra.builder import NetworkBuilder

# The stream of Figure 2. From #4 on, B of #5 and #6 alone is 3 or more (section 5.1); the averages are those
# of section 2.2.
FIGURE_2 = [
    {"A": 1, "B": 2},
    {"A": 1, "B": 3},
    {"A": 2, "B": 2},
    {"A": 2, "B": 1},
    {"A": 2, "B": 6},
    {"A": 4, "B": 5},
    {"A": 4, "B": 2},
]
SCHEMA = "A int, B int"
LONG_WAIT = "1 h"


def test_tumble_averages_runs_of_equal_a(engine: Engine) -> None:
    net = NetworkBuilder("figure2")
    net.input("s", SCHEMA).tumble({"Result": "avg(B)"}, ["A"]).output("out")
    trace = engine(net.build())

    emitted = [trace.push("s", **row) for row in FIGURE_2]

    assert emitted == [
        [],
        [],
        [{"A": 1, "Result": 2.5}],  # upon #3, the first tuple with an A not equal to 1
        [],
        [],
        [{"A": 2, "Result": 3.0}],  # upon #6
        [],  # the tuple with A = 4 is still in progress
    ]
    assert trace.flush() == [{"A": 4, "Result": 3.5}]


def test_unsplit_tumble_counts(engine: Engine) -> None:
    net = NetworkBuilder("unsplit")
    net.input("s", SCHEMA).tumble({"result": "count(*)"}, ["A"]).output("out")

    assert engine(net.build()).push_all("s", FIGURE_2) == [{"A": 1, "result": 2}, {"A": 2, "result": 3}]


def test_split_tumble_is_transparent(engine: Engine) -> None:
    """The split takes place after #3: machine 1 sees 1, 2, 3, 4 and 7, machine 2 sees 5 and 6."""
    # The Filter of the split routes by B < 3; `routed` says which tuples came after the split.
    net = NetworkBuilder("split")
    machine_1, machine_2 = net.input("s", f"{SCHEMA}, routed boolean").route("NOT routed OR B < 3", as_="p")
    tumble_1 = machine_1.tumble({"result": "count(*)"}, ["A"], as_="machine1").output("out1")
    tumble_2 = machine_2.tumble({"result": "count(*)"}, ["A"], as_="machine2").output("out2")
    union = tumble_1.union(tumble_2)
    union.wsort("A", timeout=LONG_WAIT).tumble({"result": "sum(result)"}, ["A"]).output("merged")
    trace = engine(net.build())

    emitted = [trace.push("s", **row, routed=number > 3) for number, row in enumerate(FIGURE_2, 1)]

    assert emitted == [
        [],
        [],
        [{"A": 1, "result": 2}],  # machine 1
        [],
        [],
        [{"A": 2, "result": 1}],  # machine 2, having seen 5 and 6
        [{"A": 2, "result": 2}],  # machine 1, having seen 7
    ]
    # Once WSort has waited long enough, its Tumble adds up the parts: just what the unsplit box emits.
    late = 2 * 3_600_000_000
    assert trace.tick(late) == [{"A": 1, "result": 2}]
    assert trace.flush()[-2:] == [{"A": 2, "result": 3}, {"A": 4, "result": 2}]
