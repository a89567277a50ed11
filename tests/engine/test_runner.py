"""Which runner a node gets, and which options go with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.engine.in_process import InProcess

from australis import Node
from australis.engine.runner import Runner, choose_runner
from australis.engine.settings import Way
from australis.errors import EngineError


def test_what_is_handed_in_is_what_runs() -> None:
    runner = InProcess()
    assert isinstance(runner, Runner)
    assert choose_runner(runner)() is runner


def test_a_driver_loads_nothing_that_takes_long() -> None:
    """Numba is for workers, pyspark for those on Spark; pandas comes by way of pyarrow, scipy of numba."""
    slow = ("pyspark", "numba", "pandas", "scipy")
    code = f"import sys; from australis import Node; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout == "[]\n"


class Closed(InProcess):
    """Says when it is closed."""

    def close(self) -> None:
        raise AssertionError("it belongs to who made it")


def test_a_runner_that_was_handed_in_is_not_closed(tmp_path: Path) -> None:
    with Node(tmp_path / "root", runner=Closed()) as node, pytest.raises(EngineError, match="is not Spark"):
        _ = node.spark


@pytest.mark.parametrize("name", ["lite", "light[0]", "light[two]", "Spark", ""])
def test_an_unknown_name(name: str) -> None:
    with pytest.raises(EngineError, match=r"runner: is '.*'; expected spark, light, light\[4\]"):
        choose_runner(name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"master": "local[4]"}, "master: is not for the runner 'light'"),
        ({"spark_options": {"spark.ui.enabled": "true"}}, "spark_options: is not for the runner 'light'"),
        ({"way": "spark"}, "way='spark': is not for the runner 'light'"),
    ],
)
def test_options_of_spark_are_refused_before_anything_begins(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(EngineError, match=message):
        Node(tmp_path / "root", runner="light", **options)
    assert not (tmp_path / "root").exists()


def test_options_of_spark_are_refused_with_a_runner_of_ones_own() -> None:
    with pytest.raises(EngineError, match="way='spark': is not for the runner a InProcess"):
        choose_runner(InProcess(), way=Way.SPARK)


def test_what_is_no_runner_is_refused(tmp_path: Path) -> None:
    wrong: Any = object()
    with pytest.raises(EngineError, match="runner: is a object; expected a Runner, or spark=session"):
        Node(tmp_path / "root", runner=wrong)
    # The root is free again.
    Node(tmp_path / "root", runner=InProcess()).stop()
