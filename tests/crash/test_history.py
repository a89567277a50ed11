"""Nodes that are killed while they organise history: outputs and history are those of an undisturbed run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crash.comparing import compare
from tests.crash.handling import Child
from tests.crash.kills import Kill

from australis.engine.crash_points import POINTS

EVENTS = 80


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert Child("kept", 1, EVENTS, folder).run(None).is_done
    return folder


@pytest.mark.timeout(600)
@pytest.mark.parametrize("point", [name for name in POINTS if name.startswith("history.")])
def test_history_comes_through_a_kill(tmp_path: Path, undisturbed: Path, point: str) -> None:
    killed = Child("kept", 1, EVENTS, tmp_path).run(Kill(point, 2))
    assert killed.was_killed
    assert killed.kills[point] == 1
    assert Child("kept", 1, EVENTS, tmp_path).run(None).is_done
    assert not any(compare(undisturbed, tmp_path).values())
