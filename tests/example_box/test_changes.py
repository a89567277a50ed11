"""The example box of CONTRIBUTING, in every role of a box."""

from __future__ import annotations

from random import Random

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.answers import check_answers
from tests.conformance.random_networks import (
    MAKERS,
    make_changes,
    random_events,
    random_network,
    random_rows,
    with_ends,
)
from tests.conformance.test_networks import agree, one_by_one
from tests.kernels.partitioned import Partitions
from tests.kernels.running import table
from tests.rewrite.equality import differences, random_story
from tests.rewrite.networks import random_queries, random_statistics

from australis import NetworkBuilder, dumps, loads
from australis.algebra.boxes import Changes
from australis.algebra.form.form import json_schema, to_json
from australis.algebra.network import Network, Ref
from australis.algebra.schema import parse_schema
from australis.app.pictures.notation import notation_of
from australis.errors import AlgebraError, PolicyError
from australis.plan.spread import SpreadKind
from australis.plan.superboxes import plan
from australis.policy.place.parting.split import Same, part
from australis.rewrite.improve import improve
from australis.rewrite.statistics import Measure, Statistics

SEED = st.integers(0, 2**32)
BOX = Changes(("price",), ("stock",))


def quotes(predicate: str | None = None) -> Network:
    net = NetworkBuilder("prices")
    stream = net.input("quotes", "stock string, price double, volume int, venue string")
    stream = net.add(BOX, stream, as_="new")
    if predicate is not None:
        stream = stream.filter(predicate, as_="some")
    stream.map({"price": "price", "volume": "volume"}, as_="shown").output("new")
    return net.build()


# --- the value


def test_it_refuses_what_it_cannot_do() -> None:
    for bad in (
        ((), ("stock",)),
        (("price",), ("price",)),
        (1, ("stock",)),
        (("price",), ("stock", "stock")),
    ):
        with pytest.raises(AlgebraError):
            Changes(*bad)  # type: ignore[arg-type]
    with pytest.raises(AlgebraError, match="group_by"):
        BOX.output_schemas(parse_schema("price double"))


def test_it_is_read_and_written() -> None:
    network = quotes()
    for suffix in (".json", ".yaml"):
        assert loads(dumps(network, suffix), suffix) == network
    jsonschema.validate(to_json(network), json_schema())


def test_it_is_shown() -> None:
    assert str(notation_of(BOX)) == "Changes(Of price, GroupBy stock)"


# --- its meaning and its kernel


@given(SEED)
def test_it_does_what_it_says(seed: int) -> None:
    check_answers(Random(seed), make_changes)


@given(SEED)
def test_the_kernel_does_what_the_meaning_does(seed: int) -> None:
    random = Random(seed)
    network = random_network(random, makers=(*MAKERS, *(make_changes,) * len(MAKERS)))
    stored = random_rows(random, network.inputs["stored"].schema, 5) if "stored" in network.inputs else []
    events = with_ends(random, random_events(random, network))
    assert agree(network, stored, events) == agree(network, stored, one_by_one(events))


@given(SEED)
def test_partitions_of_its_state_are_moved(seed: int) -> None:
    random, schema = Random(seed), parse_schema("at int, g string, k int, x double, b boolean")
    box = Changes(("k",), ("g", "x"))
    whole, parts = Partitions(box, (schema,), ((),), 1), Partitions(box, (schema,), (("x",),), 2)
    for count in (3, 1, 2):
        rows = [tuple(row.values()) for row in random_rows(random, schema, 12)]
        for each in (whole, parts):
            each.push(0, table(schema, rows, range(len(rows))), 0)
        parts.repartition(count)
    assert parts.by_group(("g", "x")) == whole.by_group(("g", "x"))


# --- rules, plans and policies


@given(SEED)
def test_rewriting_leaves_its_outputs_as_they_are(seed: int) -> None:
    random = Random(seed)
    network = random_queries(random, more=(make_changes,) * 40)
    found = improve(network, random_statistics(random, network))
    assert not differences(network, found.network, random_story(random, network))


def test_it_gets_only_what_it_needs() -> None:
    improved = improve(quotes()).network
    before = improved.input_schemas("new")[0].names
    assert before == ("stock", "price", "volume")


def test_a_filter_by_group_goes_before_it_and_no_other_one() -> None:
    known = Statistics({"new": Measure(5.0, (0.9,)), "some": Measure(0.1, (0.1, 0.9))})
    orders = {
        text: improve(quotes(text), known).network.order
        for text in ("stock = 'IBM'", "price > 1", "volume > 1")
    }
    first = {text: order.index("some") < order.index("new") for text, order in orders.items()}
    assert first == {"stock = 'IBM'": True, "price > 1": False, "volume > 1": False}


def test_two_that_are_equal_become_one() -> None:
    net = NetworkBuilder("prices")
    stream = net.input("quotes", "stock string, price double")
    for name in ("a", "b"):
        net.add(Changes(("price",), ("stock",)), stream, as_=name).output(name)
    net.add(Changes(("stock",), ("price",)), stream, as_="c").output("c")
    assert improve(net.build()).network.order == ("a", "c")


def test_a_plan_spreads_it_by_its_groups() -> None:
    (superbox,) = plan(quotes()).superboxes.values()
    assert superbox.spread.kind is SpreadKind.KEYS
    assert superbox.spread.keys[Ref("quotes")] == ("stock",)
    assert superbox.ordered == ("new",)
    assert not superbox.has_timeouts


def test_it_is_split_by_its_groups_only() -> None:
    assert part(quotes(), "new", "stock < 'M'").same is Same.MOMENTS
    with pytest.raises(PolicyError, match="depends on tuples"):
        part(quotes(), "new", "price < 10")
