"""Expressions over Arrow batches: from the typed tree and a table to an Arrow array per expression.

One file per noun; each has a table FUNCTIONS from the names of the typed tree to implementations over whole
columns, and `evaluate` walks the tree. The meaning is Spark SQL's with ANSI mode off.
"""

from australis.kernels.expressions.arrays import arrow, nulls, raw, truths, validity, words
from australis.kernels.expressions.evaluate import FUNCTIONS, evaluate, evaluate_all
from australis.kernels.expressions.zones import zone

__all__ = [
    "FUNCTIONS",
    "arrow",
    "evaluate",
    "evaluate_all",
    "nulls",
    "raw",
    "truths",
    "validity",
    "words",
    "zone",
]
