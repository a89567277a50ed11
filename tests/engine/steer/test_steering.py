"""Steering: looking at the situation changes nothing, and drop boxes stand once they are committed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.ledger.held import FSYNC, UnsureHome, contents, opened, push

from australis.engine.ledger import Ledger, drop_log
from australis.engine.settings import NodeSettings
from australis.engine.steer import Steering
from australis.engine.threads import SYSTEM
from australis.errors import EngineError
from australis.policy.shed import DropBox, Insert, Withdraw

INSERT, WITHDRAW = [Insert("some", DropBox.random(0.5))], [Withdraw("some")]


@pytest.fixture
def home(tmp_path: Path) -> UnsureHome:
    return UnsureHome(tmp_path)


@pytest.fixture
def ledger(tmp_path: Path, home: UnsureHome) -> Iterator[Ledger]:
    with opened(tmp_path, home) as ledger:
        push(ledger, 3)
        yield ledger


@pytest.fixture
def steering(ledger: Ledger) -> Steering:
    return Steering(ledger, NodeSettings(), SYSTEM, 1)


def test_looking_at_the_situation_changes_nothing(ledger: Ledger, steering: Steering) -> None:
    rows, queues = contents(ledger), ledger.queues
    first, second = (steering.situation(queues, 5_000_000, {"some": 3}) for _ in "ab")
    assert first == second
    assert first.stages["some"].waiting == 3
    assert contents(ledger) == rows
    assert ledger.queues is queues


def test_drop_boxes_stand_once_they_are_committed(ledger: Ledger, steering: Steering) -> None:
    steering.dropboxes.obey(INSERT, 2)
    assert steering.drop_boxes_at("some")["s"].share == DropBox.random(0.5).share
    assert [(each.superbox, each.since, each.until) for each in drop_log(ledger.catalog)] == [
        ("some", 2, None)
    ]
    steering.dropboxes.obey(WITHDRAW, 3)
    assert not steering.drop_boxes_at("some")
    assert [each.until for each in drop_log(ledger.catalog)] == [3]


def test_drop_boxes_that_are_not_committed_do_not_stand(
    ledger: Ledger, home: UnsureHome, steering: Steering
) -> None:
    home.db.takes_effect = False
    with pytest.raises(EngineError, match=FSYNC):
        steering.dropboxes.obey(INSERT, 2)
    assert not steering.dropboxes.standing
    assert not drop_log(ledger.catalog)


def test_drop_boxes_stand_though_only_the_next_change_finds_that_they_are_committed(
    ledger: Ledger, home: UnsureHome, steering: Steering
) -> None:
    home.db.takes_effect, home.db.falls_silent = True, True
    with pytest.raises(EngineError, match=FSYNC):
        steering.dropboxes.obey(INSERT, 2)
    assert not steering.dropboxes.standing
    home.db.is_silent = False
    push(ledger, 1)
    assert list(steering.dropboxes.standing) == ["some"]
