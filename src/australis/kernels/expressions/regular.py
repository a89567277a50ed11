"""Regular expressions over whole columns, by RE2, which Arrow has: in linear time."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.expr import Regular, regular, replacement
from australis.kernels.expressions.arrays import CallSite, Datum, Implementation, constant


def matches(_: CallSite, value: pa.Array, pattern: Datum) -> pa.Array:
    return pc.match_substring_regex(value, _pattern(pattern).text())


def extract(_: CallSite, value: pa.Array, pattern: Datum, group: Datum) -> pa.Array:
    """What a group of the first match has; empty without a match, or if the group is no part of it."""
    found = pc.extract_regex(value, _pattern(pattern).text(group=constant(group)))
    parts = pc.struct_field(found, 0)
    if not parts.null_count:
        return parts
    return pc.if_else(value.is_null(), pa.scalar(None, pa.string()), parts.fill_null(""))


def replace(_: CallSite, value: pa.Array, pattern: Datum, new: Datum) -> pa.Array:
    """Every match replaced; RE2 writes groups with a backslash."""
    sought = _pattern(pattern)
    pieces = replacement(constant(new), sought)
    written = "".join(
        f"\\{piece}" if isinstance(piece, int) else piece.replace("\\", "\\\\") for piece in pieces
    )
    return pc.replace_substring_regex(value, sought.text(), written)


def _pattern(datum: Datum) -> Regular:
    return regular(constant(datum))


FUNCTIONS: dict[str, Implementation] = {
    "rlike": matches,
    "regexp_extract": extract,
    "regexp_replace": replace,
}
