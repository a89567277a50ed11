"""Arrow arrays seen as numpy arrays and back, without copies where the layout allows it.

A `Datum` is an array, or a scalar that stands for the same value in every row. The value under a NULL is
arbitrary: the mask that `nulls` returns is carried along with the values until `arrow` joins them again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.algebra.types import DataType

Datum: TypeAlias = pa.Array | pa.Scalar
Numbers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CallSite:
    """What an implementation knows besides its arguments: the result's type, the network's time zone."""

    type: DataType
    timezone: str = "UTC"


Implementation = Callable[..., Datum]
"""A function of a site and some data, at least one of them an array."""


def is_scalar(datum: Datum) -> bool:
    return isinstance(datum, pa.Scalar)


def raw(datum: Datum) -> Numbers:
    """The numbers of a datum: a view of an array's buffer, or the one number that all rows share.

    >>> raw(pa.array([1, None, 3], pa.int32())).dtype
    dtype('int32')
    """
    if is_scalar(datum):
        value = datum.value if pa.types.is_temporal(datum.type) else datum.as_py()
        return np.array([0 if value is None else value], dtype=_numpy_type(datum.type))
    return _buffer(datum, _numpy_type(datum.type), 1)


def words(decimals: pa.Array) -> tuple[Numbers, Numbers]:
    """The low (unsigned) and high (signed) 64 bits of the unscaled numbers of a decimal array."""
    both = _buffer(decimals, np.dtype(np.int64), 2).reshape(-1, 2)
    return both[:, 0].view(np.uint64), both[:, 1]


def truths(datum: Datum) -> Mask:
    """Where a boolean datum is true, which NULL is not."""
    if is_scalar(datum):
        return np.array([bool(datum.as_py())])
    filled = datum.fill_null(False) if datum.null_count else datum
    return filled.to_numpy(zero_copy_only=False)


def nulls(*data: Datum) -> Mask | None:
    """Where any of the data is NULL, or None if there are no NULLs.

    >>> nulls(pa.array([1, None]), pa.array([None, 2]), pa.scalar(3))
    array([ True,  True])
    """
    masks = [
        datum.is_null().to_numpy(zero_copy_only=False)
        for datum in data
        if not is_scalar(datum) and datum.null_count
    ]
    return np.logical_or.reduce(masks) if masks else None


def either(first: Mask | None, second: Mask | None) -> Mask | None:
    """The union of two NULL masks."""
    if first is None or second is None:
        return second if first is None else first
    return first | second


def arrow(values: Numbers, type: pa.DataType, null: Mask | None = None) -> pa.Array:
    """The Arrow array of some numbers or booleans, NULL where the mask says so.

    >>> arrow(np.array([True, False]), pa.bool_(), np.array([False, True])).to_pylist()
    [True, None]
    """
    if type == pa.bool_():
        data = np.packbits(values, bitorder="little")
    else:
        data = np.ascontiguousarray(values, dtype=_numpy_type(type))
    return pa.Array.from_buffers(type, len(values), [validity(null, len(values)), pa.py_buffer(data)])


def validity(null: Mask | None, rows: int) -> pa.Buffer | None:
    """The bitmap of a NULL mask, which may be a single value for all rows."""
    if null is None or not null.any():
        return None
    return pa.py_buffer(np.packbits(np.broadcast_to(~null, (rows,)), bitorder="little"))


def constant(datum: Datum) -> Any:
    """The plain value of a datum that is the same in all rows."""
    return (datum if is_scalar(datum) else datum[0]).as_py()


def length(*data: Datum) -> int:
    """The number of rows of the arrays among some data."""
    return next(len(datum) for datum in data if not is_scalar(datum))


def spread(datum: Datum, rows: int) -> pa.Array:
    """A datum as an array of that many rows."""
    if not is_scalar(datum):
        return datum
    # Arrow cannot repeat a list no times.
    return pa.repeat(datum, rows) if rows else pa.array([], datum.type)


def _numpy_type(type: pa.DataType) -> np.dtype[Any]:
    if type == pa.int32():
        return np.dtype(np.int32)
    return np.dtype(np.float64) if type == pa.float64() else np.dtype(np.int64)


def _buffer(array: pa.Array, dtype: np.dtype[Any], items: int) -> Numbers:
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        return np.zeros(len(array) * items, dtype)
    start, stop = array.offset * items, (array.offset + len(array)) * items
    return np.frombuffer(buffer, dtype=dtype, count=stop)[start:]
