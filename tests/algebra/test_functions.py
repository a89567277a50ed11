"""User functions that raise or break their contract are named in the error, whoever calls them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from australis.algebra.user_functions import UserAggregate, register_aggregate, register_function
from australis.errors import KernelError


def aggregate(**changed: Callable[..., Any]) -> UserAggregate:
    parts: dict[str, Callable[..., Any]] = {
        "init": lambda: 0,
        "incr": lambda s, v: s + v,
        "final": lambda s: s,
    }
    return register_aggregate("tests:sum", **(parts | changed), takes=("long",), returns="long")  # type: ignore[arg-type]


def fail(*values: object) -> object:
    return 1 / 0


FAILED = "`tests:sum` failed: ZeroDivisionError: division by zero"


@pytest.mark.parametrize("part", ["init", "incr", "final"])
def test_an_aggregate_that_raises(part: str) -> None:
    failing = aggregate(**{part: fail})
    with pytest.raises(KernelError) as caught:
        failing.results([failing.add(failing.begin(), [1])])
    assert str(caught.value) == FAILED


def test_an_aggregate_of_another_type() -> None:
    with pytest.raises(KernelError, match=r"`tests:sum` returned a bad result: .*; expected a long or None"):
        aggregate().results(["many"])
    assert aggregate().results([1, None]) == pa.array([1, None])


def test_a_function_that_raises() -> None:
    function = register_function("tests:sum", fail, takes=("long",), returns="long")
    with pytest.raises(KernelError) as caught:
        function.apply([pa.array([1])], 1)
    assert str(caught.value) == FAILED


def test_a_function_may_return_pieces() -> None:
    pieces = pa.chunked_array([[1], [2]])
    function = register_function("tests:pieces", lambda: pieces, takes=(), returns="long")
    assert function.apply([], 2) == pa.array([1, 2])


@pytest.mark.parametrize("part", ["init", "incr", "final"])
def test_an_aggregate_that_exits_has_failed(part: str) -> None:
    failing = aggregate(**{part: lambda *_: sys.exit(3)})
    with pytest.raises(KernelError, match="`tests:sum` failed: SystemExit: 3"):
        failing.results([failing.add(failing.begin(), [1])])


def test_a_function_that_exits_has_failed() -> None:
    leaving = register_function("tests:leave", lambda x: sys.exit(3), takes=("long",), returns="long")
    with pytest.raises(KernelError, match="`tests:leave` failed: SystemExit: 3"):
        leaving.apply([pa.array([1])], 1)


def test_a_function_whose_values_are_none_of_its_type() -> None:
    bad = pa.array([b"\xff"], pa.binary()).view(pa.string())
    damaged = register_function("tests:damage", lambda x: bad, takes=("long",), returns="string")
    with pytest.raises(KernelError, match=r"`tests:damage` returned a damaged array: .*UTF8"):
        damaged.apply([pa.array([1])], 1)
