"""Every rule on pairs of networks, before and after it; both are also run over random tuples and compared."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.rewrite.equality import differences, random_story

from australis.algebra.form.documents import parse_yaml
from australis.algebra.form.form import from_json
from australis.algebra.network import Network
from australis.algebra.schema import parse_schema
from australis.rewrite.improve import RULES, Improved, improve
from australis.rewrite.rewrite import Rule
from australis.rewrite.statistics import Measure, Statistics

FIXTURES = Path(__file__).parent / "fixtures"
SEEDS = range(12)
Case = dict[str, Any]


def named(rule: Rule) -> str:
    return str(getattr(rule, "__name__"))  # noqa: B009 - a Callable has no name for mypy


def cases_of(rule: Rule) -> list[Case]:
    found: list[Case] = parse_yaml((FIXTURES / f"{named(rule)}.yaml").read_text(encoding="utf-8"))
    return found


CASES = [
    pytest.param(rule, case, id=f"{named(rule)}: {case['title']}")
    for rule in RULES
    for case in cases_of(rule)
]


def network_of(case: Case, boxes: str, outputs: str) -> Network:
    """The network of one side of a case."""
    inputs = {name: {"schema": parse_schema(text).as_dict()} for name, text in case["inputs"].items()}
    return from_json(
        {
            "australis": 1,
            "name": "case",
            "inputs": inputs,
            "boxes": case[boxes],
            "outputs": {name: {"from": source} for name, source in case[outputs].items()},
            "connection_points": {name: {"at": at} for name, at in case.get("points", {}).items()},
        }
    )


def improved(rule: Rule, case: Case) -> tuple[Network, Improved]:
    before = network_of(case, "before", "outputs")
    known = {box_id: Measure(us, tuple(s)) for box_id, (us, *s) in case.get("statistics", {}).items()}
    return before, improve(
        before, Statistics(known, case.get("running", ()), case.get("lean", False)), [rule]
    )


@pytest.mark.parametrize(("rule", "case"), CASES)
def test_before_and_after(rule: Rule, case: Case) -> None:
    before, found = improved(rule, case)
    if "after" not in case:
        assert found.applied == ()
        return
    after = network_of(case, "after", "outputs_after" if "outputs_after" in case else "outputs")
    assert found.network == after
    assert list(found.network.boxes) == list(after.boxes)
    for seed in SEEDS:
        story = random_story(Random(seed), before)
        assert not differences(before, after, story, lean=case.get("lean", False))
    if "says" in case:
        assert [rewrite.says for rewrite in found.applied] == case["says"]


def test_every_rule_has_pairs_and_things_that_it_leaves_alone() -> None:
    for rule in RULES:
        cases = cases_of(rule)
        assert {"after" in case for case in cases} == {True, False}
    assert {path.stem for path in FIXTURES.glob("*.yaml")} == {named(rule) for rule in RULES}
