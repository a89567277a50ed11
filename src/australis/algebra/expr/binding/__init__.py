"""The rules by which `bind` turns syntax into the typed tree.

In: a call and its typed arguments. Out: a signature with the type of the result (`signatures`, `arithmetic`)
and the casts that Spark SQL would insert (`coerce`), or the reason why the call does not fit.
"""

from australis.algebra.expr.binding.arithmetic import (
    instant,
    numbers,
    operation,
    rounded,
    same,
    shifting,
    whole,
    whole_division,
)
from australis.algebra.expr.binding.casts import cast_refused
from australis.algebra.expr.binding.coerce import bounded, convert, never_null
from australis.algebra.expr.binding.growth import ATTRIBUTE_LENGTH, GROWING, RESULT_LENGTH_MAX, longest
from australis.algebra.expr.binding.signatures import (
    Args,
    Mismatch,
    Rule,
    Signature,
    check_count,
    common,
    comparison,
    fitting,
    like,
    meeting_of,
    membership,
    nan_test,
    null_test,
    strings,
    takes,
    with_literal_int,
    with_unit,
)

__all__ = [
    "ATTRIBUTE_LENGTH",
    "GROWING",
    "RESULT_LENGTH_MAX",
    "Args",
    "Mismatch",
    "Rule",
    "Signature",
    "bounded",
    "cast_refused",
    "check_count",
    "common",
    "comparison",
    "convert",
    "fitting",
    "instant",
    "like",
    "longest",
    "meeting_of",
    "membership",
    "nan_test",
    "never_null",
    "null_test",
    "numbers",
    "operation",
    "rounded",
    "same",
    "shifting",
    "strings",
    "takes",
    "whole",
    "whole_division",
    "with_literal_int",
    "with_unit",
]
