"""The meaning of expressions: the typed tree and one tuple come in, one plain Python value goes out.

One file per noun; each has a table FUNCTIONS from the names of the typed tree to functions of plain values.
The meaning is Spark SQL's with ANSI mode off.
"""

from australis.reference.expressions.evaluate import FUNCTIONS, evaluate, plain

__all__ = ["FUNCTIONS", "evaluate", "plain"]
