"""The meaning of expressions: from the typed tree and one tuple to one plain Python value.

One file per noun; each has a table FUNCTIONS from the names of the typed tree to functions of plain values.
The meaning is Spark SQL's with ANSI mode off.
"""

from australis.reference.expressions.evaluate import FUNCTIONS, evaluate, plain
from australis.reference.expressions.times import SECOND_US, offset_at

__all__ = ["FUNCTIONS", "SECOND_US", "evaluate", "offset_at", "plain"]
