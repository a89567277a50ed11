"""Texts compare by their bytes, whatever they share at the beginning."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from tests.kernels.running import Run

from australis.algebra.boxes import Aggregate
from australis.algebra.order import Order
from australis.kernels.arrays import is_text_before, texts_of

WORDS = [
    "",
    "\0",
    "a",
    "a\0",
    "z" * 7,
    "z" * 8,
    "z" * 8 + "\0",
    "z" * 8 + "a",
    "z" * 9,
    "é",
    "ÿ" * 5,
    "日本語で",
]


def test_texts_compare_as_their_bytes_do() -> None:
    array = pa.array(["cut off", *WORDS, None]).slice(1)
    texts = texts_of(array)
    for one, other in itertools.product(range(len(WORDS)), repeat=2):
        expected = WORDS[one].encode() < WORDS[other].encode()
        assert is_text_before(texts, one, other) == expected, (WORDS[one], WORDS[other])


@pytest.mark.parametrize("cut", [1, 5, len(WORDS)])
def test_the_least_and_the_greatest_text_of_a_window(cut: int) -> None:
    calls = {"least": "min(word)", "most": "max(word)", "at": "max_by(t, word)", "first": "min_by(t, word)"}
    run = Run(Aggregate(calls, Order("t"), size=100), "t long, word string")
    rows = [(number, word) for number, word in enumerate([*WORDS[::-1], None, *WORDS])]
    for begin in range(0, len(rows), cut):
        assert run.push(0, *rows[begin : begin + cut]) == []
    least, most = min(WORDS, key=str.encode), max(WORDS, key=str.encode)
    words = [word for _, word in rows]
    assert run.push(0, (100, "x")) == [(0, least, most, words.index(most), words.index(least))]
