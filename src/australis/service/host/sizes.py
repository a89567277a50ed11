"""How large tuples are that came in few bytes: repeated values and NULLs are stored one by one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.errors import ErrorCode, Problem, ServiceError

EXPANDS_MOST = 8
"""How many times the largest body tuples may take, once each value stands for itself."""
_VALUE = 8
"""The bytes of a value, whatever its type is; texts have their own besides."""


def check_size(path: str, table: pa.Table, bytes_most: int) -> None:
    """Refuse tuples that would take far more than the largest body; `table` is valid.

    >>> texts = pa.array(["x" * 1000]).dictionary_encode().take(pa.array([0] * 1000))
    >>> texts.nbytes < 10_000, size_of(texts)
    (True, 1008000)
    """
    size = sum(size_of(chunk) for column in table.columns for chunk in column.chunks)
    if size > EXPANDS_MOST * bytes_most:
        what = f"has tuples of {size:,} bytes, each value counted"
        raise too_large(path, what, bytes_most)


def too_large(path: str, what: str, bytes_most: int) -> ServiceError:
    """The error about what is small on its way and large where it arrives."""
    hint = f"at most {EXPANDS_MOST} times access.limits.body_bytes, which is {bytes_most:,}"
    return ServiceError(ErrorCode.TOO_LARGE, Problem(path, what, hint))


def size_of(values: pa.Array) -> int:
    """The bytes of an array, each of its values counted."""
    fixed = _VALUE * len(values)
    if pa.types.is_dictionary(values.type):
        lengths = _lengths(values.dictionary)
        return fixed if lengths is None else fixed + int(lengths[values.indices.drop_null()].sum())
    lengths = _lengths(values)
    return fixed if lengths is None else fixed + int(lengths.sum())


def _lengths(values: pa.Array) -> np.ndarray | None:
    """The bytes of each text; None where values have a fixed width."""
    kind = values.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        views = np.frombuffer(values.buffers()[1], np.int32).reshape(-1, 4)
        found = views[values.offset : values.offset + len(values), 0].astype(np.int64)
        return np.where(values.is_valid(), found, 0)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if is_text or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        found = pc.binary_length(values).fill_null(0).to_numpy(zero_copy_only=False)
        return np.asarray(found, np.int64)
    return None
