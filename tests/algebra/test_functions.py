"""User functions that raise or break their contract are named in the error, whoever calls them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from australis.algebra.types import parse_type
from australis.algebra.user_functions import (
    ArrowAggregate,
    RowFunction,
    UserAggregate,
    register_aggregate,
    register_arrow_aggregate,
    register_function,
    register_scalar,
)
from australis.errors import AlgebraError, EngineError, KernelError


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


@pytest.mark.parametrize(
    ("part", "given"), [("init", ""), ("incr", ", given (1)"), ("final", ", given (the state 1)")]
)
def test_an_aggregate_that_raises(part: str, given: str) -> None:
    failing = aggregate(**{part: fail})
    with pytest.raises(KernelError) as caught:
        failing.results([failing.add(failing.begin(), [1])])
    assert str(caught.value) == f"{FAILED}{given}"


def test_an_aggregate_of_another_type() -> None:
    with pytest.raises(KernelError, match=r"`tests:sum` returned a bad result: .*; expected a long or None"):
        aggregate().results(["many"])
    assert aggregate().results([1, None]) == pa.array([1, None])


def test_a_function_that_raises() -> None:
    function = register_function("tests:sum", fail, takes=("long",), returns="long")
    with pytest.raises(KernelError) as caught:
        function.apply([pa.array([1])], 1)
    assert str(caught.value) == f"{FAILED}, given (1)"
    with pytest.raises(KernelError) as caught:
        function.apply([pa.array([1, 2])], 2)
    assert str(caught.value) == FAILED, "any of the rows may be to blame"


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


# --- functions of Python values


def half(number: int) -> int:
    if number % 2:
        raise ValueError("is odd")
    return number // 2


def test_a_scalar_function_is_called_for_every_row_without_nulls() -> None:
    function = register_scalar("tests:half", half, takes=("long",), returns="long")
    assert function.apply([pa.array([4, None, 6])], 3) == pa.array([2, None, 3])
    seeing = register_scalar("tests:seen", str, takes=("long",), returns="string", sees_nulls=True)
    assert seeing.apply([pa.array([4, None])], 2) == pa.array(["4", "None"])


def test_a_scalar_function_gets_plain_values() -> None:
    seen: list[tuple[Any, ...]] = []
    kinds = ("timestamp", "decimal(6,2)", "boolean", "double", "string")
    function = register_scalar("tests:seen", lambda *row: seen.append(row), takes=kinds, returns="timestamp")
    arrays = [pa.array([value], parse_type(kind).arrow) for value, kind in zip(ROW, kinds, strict=True)]
    assert function.apply(arrays, 1).to_pylist() == [None]
    assert seen == [ROW]
    back = register_scalar("tests:back", lambda t, *_: t, takes=kinds, returns="timestamp")
    assert back.apply(arrays, 1) == arrays[0], "a timestamp is microseconds on both ways"


ROW = (1_600_000_000_000_000, Decimal("1.50"), True, 2.5, "x")


def test_a_scalar_function_that_raises_names_the_arguments() -> None:
    function = register_scalar("tests:half", half, takes=("long",), returns="long")
    with pytest.raises(KernelError) as caught:
        function.apply([pa.array([4, 6, 7, 9])], 4)
    assert str(caught.value) == "`tests:half` failed: ValueError: is odd, given (7)"


def test_a_scalar_function_of_another_type_names_the_arguments() -> None:
    function = register_scalar("tests:text", lambda x, y: x or "no", takes=("long", "string"), returns="long")
    with pytest.raises(KernelError) as caught:
        function.apply([pa.array([4, 0]), pa.array(["a", "b"])], 2)
    assert re.fullmatch(
        r"`tests:text` returned a bad result: .*'no'.*, given \(0, 'b'\); "
        "expected a long or None from every call",
        str(caught.value),
    )


def test_a_scalar_function_has_arguments() -> None:
    with pytest.raises(AlgebraError, match=r"^takes: is empty; expected at least one argument"):
        register_scalar("tests:none", lambda: 1, takes=(), returns="long")


@pytest.mark.parametrize("register", [register_function, register_scalar])
def test_a_module_that_is_missing_is_no_fault_of_a_tuple(register: Callable[..., RowFunction]) -> None:
    def lonely(x: object) -> object:
        raise ModuleNotFoundError("No module named 'friends'")

    function = register("tests:lonely", lonely, takes=("long",), returns="long")
    with pytest.raises(
        EngineError, match=r"^`tests:lonely` failed: ModuleNotFoundError: No module named 'fri"
    ):
        function.apply([pa.array([1])], 1)


# --- aggregates over Arrow arrays

STATE = {"n": pa.int64(), "last": pa.string()}


def arrow_aggregate(**changed: Any) -> ArrowAggregate:
    parts: dict[str, Any] = {
        "state": STATE,
        "init": {"n": 0},
        "update": lambda states, windows, values: {"n": np.array([1, 2]), "last": pa.array(["a", None])},
        "finish": lambda states: states["n"],
        "takes": ("long",),
        "returns": "long",
    }
    return register_arrow_aggregate("tests:fold", **(parts | changed))


def test_an_arrow_aggregate_has_a_state_for_each_window() -> None:
    fold = arrow_aggregate()
    assert fold.begin(2).to_pylist() == [{"n": 0, "last": None}] * 2
    states = fold.add(fold.begin(2), pa.array([0]), [pa.array([7])])
    assert states.to_pylist() == [{"n": 1, "last": "a"}, {"n": 2, "last": None}]
    assert fold.results(states) == pa.array([1, 2])


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (7, "returned int; expected a mapping with n, last from every update"),
        ({"n": [1, 2]}, "returned the fields n; expected a mapping with n, last from every update"),
        ({"n": [1, 2], "last": 0}, "returned list as the state 'n'; expected a pyarrow.Array"),
        ({"n": pa.array([1.5, 2]), "last": 0}, "returned values of double as the state 'n'; expected int64"),
        (
            {"n": np.array([1]), "last": 0},
            "returned 1 values for 2 rows as the state 'n'; expected as many as",
        ),
        ({"n": np.array(["x", "y"]), "last": 0}, "returned bad values as the state 'n': .*; expected int64"),
    ],
)
def test_states_that_do_not_fit_are_refused_by_name(returned: object, message: str) -> None:
    fold = arrow_aggregate(update=lambda *_: returned)
    with pytest.raises(KernelError) as caught:
        fold.add(fold.begin(2), pa.array([0, 1]), [pa.array([7, 8])])
    assert re.match(f"`tests:fold` {message}", str(caught.value))


def test_an_arrow_aggregate_that_raises_names_the_row_or_the_state() -> None:
    failing = arrow_aggregate(update=fail, finish=fail)
    text = "`tests:fold` failed: ZeroDivisionError: division by zero"
    with pytest.raises(KernelError) as caught:
        failing.add(failing.begin(2), pa.array([1]), [pa.array([7])])
    assert str(caught.value) == f"{text}, given (7)"
    with pytest.raises(KernelError) as caught:
        failing.add(failing.begin(2), pa.array([1, 0]), [pa.array([7, 8])])
    assert str(caught.value) == text
    with pytest.raises(KernelError) as caught:
        failing.results(failing.begin(1))
    assert str(caught.value) == f"{text}, given (the state {{'last': None, 'n': 0}})"


def test_results_that_do_not_fit_are_refused_by_name() -> None:
    fold = arrow_aggregate(finish=lambda states: states["last"])
    with pytest.raises(KernelError, match=r"^`tests:fold` returned values of string; expected int64$"):
        fold.results(fold.begin(1))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"state": {}}, "state: is empty; expected a mapping"),
        ({"state": {"n": "long"}}, "state.n: is 'long'; expected a pyarrow.DataType"),
        ({"init": {"m": 0}}, "init.m: is no field of the state; expected n, last"),
        ({"init": {"n": "many"}}, "init.n: .*; expected a int64"),
        ({"update": None}, "update: is None; expected a function"),
    ],
)
def test_an_arrow_aggregate_that_cannot_be(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(AlgebraError, match=f"^{message}"):
        arrow_aggregate(**changed)


def test_the_state_of_an_aggregate_has_an_arrow_type() -> None:
    with pytest.raises(AlgebraError, match=r"^state: is 'long'; expected a pyarrow.DataType"):
        aggregate(state="long")  # type: ignore[arg-type]
