"""What outputs got and what was shed, second by second and altogether; it outlives the node."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.watched import NOW, SECOND, note, opened

from australis.engine.ledger.counts.recent_counts import KEPT_S, Mouthful, Recent, all_so_far, recent

ONE = Recent({"a": {160: 3}}, {"a": {0: 2, 1: 1}}, {("box", "s"): Mouthful(10, 4)})
OTHER = Recent({"a": {160: 1, 168: 5}, "b": {9: 1}}, {"a": {1: 6}}, {("box", "s"): Mouthful(2, 0)})
BOTH = Recent({"a": {160: 4, 168: 5}, "b": {9: 1}}, {"a": {0: 2, 1: 7}}, {("box", "s"): Mouthful(12, 4)})
SECONDS = NOW // SECOND


def test_trains_of_one_second_and_of_several_add_up(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        note(ledger, NOW, ONE)
        note(ledger, NOW + SECOND - 1, OTHER)
        note(ledger, NOW + SECOND, ONE)
        assert recent(ledger.catalog, SECONDS, SECONDS + 1) == BOTH
        assert recent(ledger.catalog, SECONDS + 1, SECONDS + 2) == ONE
        assert recent(ledger.catalog, SECONDS, SECONDS + 2).mouths == {("box", "s"): Mouthful(22, 8)}
        assert recent(ledger.catalog, SECONDS + 2, SECONDS + 9) == Recent()


def test_old_seconds_are_forgotten_and_sums_are_not(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        note(ledger, NOW, ONE)
        note(ledger, NOW + KEPT_S * SECOND, OTHER)
        assert recent(ledger.catalog, SECONDS, SECONDS + 1) == ONE
        note(ledger, NOW + (KEPT_S + 1) * SECOND, Recent())
        assert recent(ledger.catalog, SECONDS, SECONDS + 1) == Recent()
        assert all_so_far(ledger.catalog) == BOTH


def test_a_catalogue_that_is_opened_again_knows_all(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        note(ledger, NOW, ONE)
    with opened(tmp_path) as ledger:
        note(ledger, NOW, OTHER)
        assert recent(ledger.catalog, SECONDS, SECONDS + 1) == all_so_far(ledger.catalog) == BOTH


def test_what_has_happened_since() -> None:
    assert BOTH.since(Recent()) == BOTH
    since = BOTH.since(ONE)
    assert since.delays == {"a": {160: 1, 168: 5}, "b": {9: 1}}
    assert since.values == {"a": {0: 0, 1: 6}}
    assert since.mouths == OTHER.mouths


@pytest.mark.parametrize(
    ("mouthful", "kept"), [(Mouthful(), 1.0), (Mouthful(8, 2), 0.75), (Mouthful(8, 8), 0.0)]
)
def test_the_fraction_that_is_let_in(mouthful: Mouthful, kept: float) -> None:
    assert mouthful.kept == kept
