"""Sort keys: whole numbers that compare as the values of a column, or of several, do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.order import SortKey
from australis.kernels.arrays import Indexes, normalised, numbers
from australis.kernels.expressions import nulls
from australis.kernels.ordering import sort_keys

_WORD_DIGITS = 18
"""Digits of a decimal that fit 64 bits."""
NULL_KEY = 2**63 - 1


def by_keys(columns: Sequence[pa.Array], keys: Sequence[SortKey]) -> Indexes:
    """The rows in the order of some keys, ties by row; NULLs come last, NaN is the greatest number."""
    parts = [
        directed_keys(array, descending=key.descending) for array, key in zip(columns, keys, strict=True)
    ]
    order: Indexes = np.lexsort(parts[::-1])
    return order


def combined_keys(columns: Sequence[pa.Array], keys: Sequence[SortKey]) -> Indexes:
    """Whole numbers that compare as rows do by some keys."""
    if len(keys) == 1:
        return directed_keys(columns[0], descending=keys[0].descending)
    parts = [
        directed_keys(array, descending=key.descending) for array, key in zip(columns, keys, strict=True)
    ]
    order = np.lexsort(parts[::-1])
    differs = np.zeros(len(order), np.bool_)
    for part in parts:
        differs[1:] |= np.diff(part[order]) != 0
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(differs)
    return ranks


def directed_keys(values: pa.Array, *, descending: bool) -> Indexes:
    """Whole numbers that compare like the values in a direction; those of NULLs are the greatest.

    >>> directed_keys(pa.array([3, None, 2**63 - 1]), descending=False).argsort().tolist()
    [0, 2, 1]
    """
    found = ascending_keys(normalised(values))
    found, missing = ~found if descending else found, nulls(values)
    if missing is None:
        return found
    if found.max(initial=0) == NULL_KEY:
        found = np.unique(found, return_inverse=True)[1].astype(np.int64)
    return np.where(missing, NULL_KEY, found)


def ascending_keys(values: pa.Array) -> Indexes:
    """Whole numbers that compare like the values of an array; the number for a NULL is arbitrary.

    >>> ascending_keys(pa.array(["b", "a", None, "é", "b"]))[[0, 1, 3, 4]].tolist()
    [1, 0, 2, 1]
    """
    kind = values.type
    if pa.types.is_string(kind) or (pa.types.is_decimal(kind) and kind.precision > _WORD_DIGITS):
        return _ranks(values)
    found = numbers(values)
    if found.dtype == np.float64:
        found = np.where(np.isnan(found), np.nan, found)
    return sort_keys(found)


def _ranks(values: pa.Array) -> Indexes:
    """The rank of each value among the distinct ones."""
    encoded = values.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    ranks = np.empty(len(order) + 1, np.int64)
    ranks[order] = np.arange(len(order))
    found: Indexes = ranks[encoded.indices.fill_null(len(order)).to_numpy()]
    return found
