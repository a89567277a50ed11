"""A JSON array becomes JSON lines, whatever is in it; what is no array is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.service.http.bodies.json_lines import as_lines

texts = st.text('ab",:[]{}\\/ \t\n\u00e9', max_size=6)
leaves = st.none() | st.booleans() | st.integers() | texts
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)


@given(
    st.lists(values.filter(lambda value: value != ""), max_size=5),
    st.sampled_from([None, 1]),
)
@example(["\\", '\\"', "\\\\"], None)
def test_each_element_of_an_array_is_a_line(elements: list[object], indent: int | None) -> None:
    lines = as_lines(json.dumps(elements, indent=indent).encode())
    assert [json.loads(line) for line in lines.split(b"\n") if line.strip()] == elements
    assert len(elements) == 0 or lines.count(b"\n") == len(elements) - 1


def test_one_value_is_one_line() -> None:
    assert as_lines(b' {"a":\n 1, "b": 2}\n') == b'{"a":  1, "b": 2}'
    assert as_lines(b"null") == b"null"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('[{"a": 1}', "ends within a value"),
        ('[{"a": 1', "ends within a value"),
        ('["a', "ends within a value"),
        ("[1]]", "was not opened"),
        ("[1][2]", "after the end of its array"),
        ("[1], [2]", "after the end of its array"),
        ("[1] 2", "after the end of its array"),
        ("[1,]", "comma without a value"),
        ("[,1]", "comma without a value"),
        ("[1,,2]", "comma without a value"),
        ("[,]", "comma without a value"),
    ],
)
def test_what_is_no_array_is_refused(body: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        as_lines(body.encode())
