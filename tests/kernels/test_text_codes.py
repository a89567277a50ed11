"""Texts are numbered by first occurrence as Arrow's dictionaries number them, whatever their lengths."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from australis.kernels.arrays import dense
from australis.kernels.arrays.text_codes import text_codes

PIECES = ["", "a", "b", "\0", "é", "12345678", "a2345678"]
"""Texts of these differ by a byte at any place, or only by their length."""
texts = st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), max_size=30)


def by_dictionary(array: pa.Array) -> list[int]:
    return array.dictionary_encode().indices.to_pylist()  # type: ignore[no-any-return]


@given(texts, texts, st.integers(0, 3))
def test_numbers_are_those_of_a_dictionary(known: list[str], given: list[str], skipped: int) -> None:
    old = pa.array(dict.fromkeys(known), pa.string())
    new = pa.array(["x" * skipped, *given], pa.string()).slice(1)
    assert text_codes(old, new).tolist() == by_dictionary(pa.concat_arrays([old, new]))[len(old) :]
    assert dense(old, new).tolist() == by_dictionary(pa.concat_arrays([old, new]))


def test_the_table_grows_with_new_texts() -> None:
    """Texts of one length, whose ends are often the same, in more numbers than the table begins with."""
    names = [f"12345678{number % 7}{number:08}{number % 3}12345678" for number in range(30_000)]
    known, new = pa.array(names[:100]), pa.array(names[50:] + names[::-1])
    expected = by_dictionary(pa.concat_arrays([known, new]))[len(known) :]
    assert text_codes(known, new).tolist() == expected
