"""What a driver says and does when Spark goes away under it, and what is left when the driver goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crash.child import WORKING
from tests.crash.comparing import compare
from tests.crash.handling import Child
from tests.crash.kills import DRIVER, JVM, Kill
from tests.crash.processes import left_of

EVENTS = 40


@pytest.mark.timeout(600)
def test_a_lost_jvm_is_an_error_that_says_so(tmp_path: Path) -> None:
    ended = Child("keyed", 1, EVENTS, tmp_path).run(Kill(JVM, seconds=0.5))
    assert (ended.is_done, ended.was_killed, ended.hung) == (False, False, False)
    assert "nothing that was committed is lost" in ended.last_words.splitlines()[-1]
    assert not left_of(tmp_path, 30)


@pytest.mark.timeout(600)
def test_nothing_runs_on_without_its_driver_and_the_rest_comes_once(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("killed", "undisturbed")]
    for folder in folders:
        folder.mkdir()
    killed = Child("keyed", 1, EVENTS, folders[0]).run(Kill(DRIVER, seconds=0.5, since=WORKING))
    assert killed.was_killed
    for folder in folders:
        assert Child("keyed", 1, EVENTS, folder).run(None).is_done
    assert not any(compare(folders[1], folders[0]).values())
    assert not left_of(tmp_path, 30)
