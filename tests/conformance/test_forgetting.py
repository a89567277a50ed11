"""Boxes that forget groups: kernels do what the reference does, and remember no more than they must."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.engine_runs import Journey, random_restarts, random_setting, recut, several_tasks
from tests.conformance.keyed_networks import many_keys
from tests.conformance.random_networks import (
    LENGTHS,
    ORDER_TYPES,
    Draft,
    Event,
    add_box,
    make_aggregate,
    make_changes,
    make_lag,
    make_number,
    make_top,
    random_events,
)
from tests.conformance.test_layers import agree
from tests.conformance.test_networks import one_by_one, reference_event, table_of

from australis.algebra.boxes import Aggregate, Box, Changes, Lag, Number
from australis.algebra.network import Input, Network, Node, Output, Ref
from australis.algebra.order import Order
from australis.algebra.progress import Progress
from australis.algebra.schema import parse_schema
from australis.errors import AlgebraError, NetworkError
from australis.kernels.layers import LayeredState, shape_of
from australis.kernels.run import PipelineRun
from australis.reference.network import ReferenceRun

RANDOM = st.randoms(use_true_random=False)
MAKERS = (make_aggregate, make_aggregate, make_aggregate, make_top, make_changes, make_lag, make_number)


def draw(random: Random) -> Network | None:
    """A network of one box that forgets; None if another one was drawn."""
    draft = Draft(random, random.choice(ORDER_TYPES))
    schema = parse_schema(f"at {draft.order_type}, g string, k int, x double, b boolean")
    slack = random.choice(LENGTHS[schema["at"].type.name])
    progress = Progress("at", slack if schema["at"].type.name == "timestamp" else float(slack))
    draft.inputs["in0"] = Input(schema, progress=progress)
    draft.streams[Ref("in0")] = schema
    add_box(draft, "box", MAKERS)
    if "box" not in draft.boxes or getattr(draft.boxes["box"].box, "forget", None) is None:
        return None
    outputs = {f"out{number}": Output(ref) for number, ref in enumerate(draft.streams)}
    zone = random.choice(["UTC", "Europe/Berlin"])
    return Network("random", draft.inputs, draft.boxes, outputs, timezone=zone)


@given(RANDOM)
def test_kernels_forget_as_the_reference_does(random: Random) -> None:
    network = draw(random) or draw(random) or draw(random)
    if network is None:
        return
    events = random_events(random, network, 40)
    agree(network, [], random.choice([events, one_by_one(events)]), random)


@given(RANDOM)
@settings(max_examples=8)
def test_nodes_forget_as_the_reference_does(random: Random) -> None:
    network = draw(random) or draw(random) or draw(random)
    if network is None:
        return
    events = many_keys(random, recut(random, random_events(random, network, 40)))
    setting = random_setting(random)
    restarts = random_restarts(random, setting, len(events))
    with several_tasks(rows_per_task=random.choice([2, 5, 60_000])):
        Journey(network, [], events, setting, restarts).check()


# --- what begins anew

VISITS = "k long not null, at long not null"
BY_PROGRESS = Order("at", group_by=("k",), by="progress")
COUNT = {"n": "count(*)"}


def network_of(box: Box) -> Network:
    """A network of one box on visits whose times ascend."""
    schema = parse_schema(VISITS)
    progress = Progress("at") if any(order.by_progress for order in box.orders.values()) else None
    boxes, outputs = {"box": Node(box, (Ref("visits"),))}, {"out": Output(Ref("box"))}
    return Network("visits", {"visits": Input(schema, progress=progress)}, boxes, outputs)


def results(box: Box, visits: list[tuple[int, int, int]]) -> list[dict[str, object]]:
    """What a box makes of visits, each (now, k, at), in the reference and the kernels."""
    network = network_of(box)
    reference, kernels = ReferenceRun(network), PipelineRun(network)
    found = []
    for now, k, at in visits:
        row = ({"k": k, "at": at}, 0)
        emitted = reference.push_batch("visits", [row], now)
        table = kernels.push("visits", table_of(network, "visits", [row]), now)["out"]
        expected = [dict(each.values) for each in emitted if each.output == "out"]
        assert table.select(list(expected[0]) if expected else []).to_pylist() == expected
        found += expected
    return found


def test_windows_begin_at_the_first_tuple_after_a_group_was_forgotten() -> None:
    visits = [(0, 1, 3), (0, 1, 9), (0, 1, 25), (0, 2, 50)]
    starts = [(row["at"], row["n"]) for row in results(Aggregate(COUNT, BY_PROGRESS, 10), visits)]
    assert starts == [(3, 2), (23, 1)]
    anew = Aggregate(COUNT, BY_PROGRESS, 10, forget=15)
    assert [(row["at"], row["n"]) for row in results(anew, visits)] == [(3, 2), (25, 1)]
    assert [row["at"] for row in results(Aggregate(COUNT, BY_PROGRESS, 10, forget=16), visits)] == [3, 23]


def test_empty_windows_end_when_their_group_is_forgotten() -> None:
    visits = [(0, 1, 3), (0, 2, 31), (0, 1, 45), (0, 2, 60)]
    box = Aggregate(COUNT, BY_PROGRESS, 5, empty=True, forget=12)
    own = [(row["at"], row["n"]) for row in results(box, visits) if row["k"] == 1]
    assert own == [(3, 1), (8, 0), (45, 1), (50, 0)]


def test_a_group_that_was_quiet_begins_anew() -> None:
    visits = [(0, 1, 1), (10, 1, 2), (21, 1, 3), (22, 1, 1)]
    numbers = [row["visit"] for row in results(Number("visit", ("k",), forget="10 us"), visits)]
    assert numbers == [0, 1, 0, 1]
    before = [row["before"] for row in results(Lag({"before": "at"}, ("k",), forget="10 us"), visits)]
    assert before == [None, 1, None, 3]
    same = [(0, 1, 1), (10, 1, 1), (21, 1, 1)]
    assert len(results(Changes(("at",), ("k",), forget="10 us"), same)) == 2


def test_a_tuple_is_not_late_for_a_group_that_was_forgotten() -> None:
    order = Order("at", group_by=("k",))
    box = Aggregate(COUNT, order, 10, timeout="5 us", forget="20 us")
    visits = [(0, 1, 100), (6, 2, 1), (30, 1, 50), (36, 2, 1)]
    assert [row["at"] for row in results(box, visits) if row["k"] == 1] == [100, 50]
    still_open = Aggregate(COUNT, order, 10, forget="20 us")
    assert results(still_open, visits) == []


@given(RANDOM)
def test_a_long_forget_changes_nothing(random: Random) -> None:
    network = draw(random) or draw(random) or draw(random)
    if network is None:
        return
    events = random_events(random, network, 40)
    never, late = (with_forget(network, long=each) for each in (False, True))
    assert outputs(late, events) == outputs(never, events)


def with_forget(network: Network, *, long: bool) -> Network:
    """The network with a box that forgets after more than all its input, or never."""
    node = network.boxes["box"]
    by_number = any(order.by_progress for order in node.box.orders.values())
    by_number = by_number and network.inputs["in0"].schema["at"].type.name != "timestamp"
    forget = (1000 if by_number else "10 d") if long else None
    box = replace(node.box, forget=forget)  # type: ignore[type-var]
    return replace(network, boxes={"box": replace(node, box=box)}, known=None)


def outputs(network: Network, events: list[Event]) -> list[dict[str, list[str]]]:
    """What each event makes the reference emit."""
    run = ReferenceRun(network)
    return [reference_event(run, network, event) for event in events]


# --- what is remembered

FORGETFUL = {
    "windows by progress": Aggregate(COUNT, BY_PROGRESS, 10, forget=20),
    "aligned windows by progress": Aggregate(COUNT, BY_PROGRESS, 10, align=True),
    "empty windows": Aggregate(COUNT, BY_PROGRESS, 10, empty=True, forget=20),
    "windows that time out": Aggregate(COUNT, Order("at", 1, ("k",)), 10, timeout="10 us", forget="100 us"),
    "windows of tuples": Aggregate(COUNT, Order("Tup#", group_by=("k",)), 1, forget="100 us"),
    "changes": Changes(("at",), ("k",), forget="100 us"),
    "lag": Lag({"before": "at"}, ("k",), forget="100 us"),
    "number": Number("visit", ("k",), forget="100 us"),
}


@pytest.mark.parametrize("is_layered", [False, True])
@pytest.mark.parametrize("name", FORGETFUL)
def test_a_state_of_ever_new_keys_does_not_grow(name: str, is_layered: bool) -> None:
    network = network_of(FORGETFUL[name])
    run = PipelineRun(network)
    kernel, kept = run.pipeline.kernels["box"], []
    if is_layered:
        shape = shape_of(kernel)
        assert shape is not None
        run.state = {"box": LayeredState.of(shape, kernel.start())}
    for now in range(0, 600, 10):
        keys = np.arange(now, now + 10)
        run.push("visits", pa.table({"k": keys, "at": keys}), now)
        kept.append(run.state["box"]["groups"].num_rows)
    assert max(kept) == max(kept[:25]) <= 150


@pytest.mark.parametrize("name", ["windows by progress", "windows that time out", "number"])
def test_no_event_is_needed_only_to_forget(name: str) -> None:
    network = network_of(FORGETFUL[name])
    run = PipelineRun(network)
    keys = np.arange(10)
    run.push("visits", pa.table({"k": keys, "at": keys}), 0)
    run.push("visits", pa.table({"k": [77], "at": [15]}), 50)
    run.tick(90)
    if name == "windows by progress":
        run.promise("visits", 25, 90)
    shape = shape_of(run.pipeline.kernels["box"])
    assert shape is not None
    layered = LayeredState.of(shape, run.state["box"])
    assert layered["groups"].num_rows
    assert run.pipeline.deadline(run.state) is None
    assert layered.deadline is None
    assert not run.pipeline.awaits_marks(run.state)
    assert not layered.awaits_marks


# --- what is refused


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Number("n", forget="1 h"), "no groups"),
        (lambda: Changes(("k",), ("at",), forget="soon"), "not a length of time"),
        (lambda: Aggregate(COUNT, Order("at"), 1, forget="1 h"), "no groups"),
        (lambda: Aggregate(COUNT, Order("at", by="progress"), 1, forget=1), "no groups"),
        (lambda: Aggregate(COUNT, BY_PROGRESS, 1, forget=1, timeout="1 s"), "together with timeout"),
        (lambda: network_of(Aggregate(COUNT, BY_PROGRESS, 10, forget=9)), "less than a window"),
        (lambda: network_of(Aggregate(COUNT, BY_PROGRESS, 10, forget="1 h")), "not a size"),
        (lambda: Aggregate(COUNT, Order("at", group_by=("k",)), 10, forget=9), "length of time"),
    ],
)
def test_what_is_refused(made: Callable[[], object], message: str) -> None:
    with pytest.raises((AlgebraError, NetworkError), match=message):
        made()
