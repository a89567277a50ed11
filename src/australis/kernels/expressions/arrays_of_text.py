"""Arrays of strings, which SPLIT and `collect_list` make: Arrow lists."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.expr import regular
from australis.kernels.expressions.arrays import (
    CallSite,
    Datum,
    Implementation,
    Numbers,
    arrow,
    constant,
    either,
    length,
    nulls,
    raw,
    spread,
)


def split(_: CallSite, value: pa.Array, pattern: Datum, limit: Datum) -> pa.Array:
    """The texts between the matches of a pattern; the last of at most `limit` has all that is left."""
    most = constant(limit)
    if most == 1:
        return pa.ListArray.from_arrays(
            pa.array(np.arange(len(value) + 1), pa.int32()), value, mask=value.is_null()
        )
    splits = {"max_splits": most - 1} if most > 0 else {}
    return pc.split_pattern_regex(value, pattern=regular(constant(pattern)).text(), **splits)


def get(_: CallSite, array: Datum, index: Datum) -> pa.Array:
    """An element, counted from 0; NULL if there is none."""
    return _elements(array, index, raw(index).astype(np.int64))


def element_at(_: CallSite, array: Datum, place: Datum) -> pa.Array:
    """An element, counted from 1, or from the end if the place is negative; NULL if there is none."""
    array = spread(array, length(array, place))
    places = raw(place).astype(np.int64)
    index = np.where(places > 0, places - 1, np.where(places < 0, _sizes(array) + places, -1))
    return _elements(array, place, index)


def array_contains(_: CallSite, array: Datum, value: Datum) -> pa.Array:
    rows = length(array, value)
    array, value = spread(array, rows), spread(value, rows)
    parents = np.repeat(np.arange(rows), _sizes(array))
    same = pc.equal(pc.list_flatten(array), value.take(pa.array(parents))).fill_null(False)
    there = np.zeros(rows, bool)
    there[parents[same.to_numpy(zero_copy_only=False)]] = True
    return arrow(there, pa.bool_(), nulls(array, value))


def array_join(_: CallSite, array: Datum, separator: Datum) -> pa.Array:
    """The elements as one text, with a separator between each two."""
    rows = length(array, separator)
    return pc.binary_join(spread(array, rows), spread(separator, rows))


def size(_: CallSite, array: pa.Array) -> pa.Array:
    return pc.list_value_length(array).fill_null(-1)


def _elements(array: Datum, index_datum: Datum, index: Numbers) -> pa.Array:
    """The elements at some indexes of each array, NULL where there is none."""
    array = spread(array, length(array, index_datum))
    missing = (index < 0) | (index >= _sizes(array))
    null = either(nulls(array, index_datum), np.broadcast_to(missing, (len(array),)))
    starts = raw(array.offsets)[: len(array)].astype(np.int64)
    at = np.where(False if null is None else null, 0, starts + index)
    return (
        array.values.take(pa.array(at, mask=null)) if len(array.values) else pa.nulls(len(array), pa.string())
    )


def _sizes(array: pa.Array) -> Numbers:
    return raw(pc.list_value_length(array).fill_null(0)).astype(np.int64)


FUNCTIONS: dict[str, Implementation] = {
    "split": split,
    "get": get,
    "element_at": element_at,
    "array_contains": array_contains,
    "array_join": array_join,
    "size": size,
}
