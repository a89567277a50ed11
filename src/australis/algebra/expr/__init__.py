"""Expressions: a whitelisted subset of Spark SQL, as text, as syntax and as a typed tree.

In: the text of a predicate, a map or a window function. `parse` refuses what is not in the subset and `bind`
fits it to a schema. Out: the tree of `tree.py`, which every evaluator reads; none reads the text.
"""

from australis.algebra.expr.binding import never_null
from australis.algebra.expr.failure import nearest
from australis.algebra.expr.functions import FUNCTIONS, OPERATORS
from australis.algebra.expr.literals import INSTANT_MAX_US, LONG_MAX, UNITS_US
from australis.algebra.expr.parse import Parsed, parse
from australis.algebra.expr.patterns import (
    DATE_LETTERS,
    MONTHS,
    SHORT_NAME,
    WEEKDAYS,
    Regular,
    Step,
    TimeField,
    TimePart,
    json_path,
    read_times,
    reading,
    regular,
    replacement,
    time_guard,
    written_times,
)
from australis.algebra.expr.substitute import substituted
from australis.algebra.expr.text import text_of
from australis.algebra.expr.tree import (
    Attribute,
    Call,
    Case,
    Cast,
    Expr,
    Literal,
    UserCall,
    Value,
    attributes,
    children,
    walk,
)
from australis.algebra.expr.window_expressions import (
    ParsedWindow,
    WindowExpression,
    WindowFunctions,
    combined,
    parse_window,
    result_name,
)
from australis.algebra.expr.window_functions import INTERPOLATIONS, WINDOW_FUNCTIONS, WindowCall
from australis.algebra.expr.zones import read_zone

__all__ = [
    "DATE_LETTERS",
    "FUNCTIONS",
    "INSTANT_MAX_US",
    "INTERPOLATIONS",
    "LONG_MAX",
    "MONTHS",
    "OPERATORS",
    "SHORT_NAME",
    "UNITS_US",
    "WEEKDAYS",
    "WINDOW_FUNCTIONS",
    "Attribute",
    "Call",
    "Case",
    "Cast",
    "Expr",
    "Literal",
    "Parsed",
    "ParsedWindow",
    "Regular",
    "Step",
    "TimeField",
    "TimePart",
    "UserCall",
    "Value",
    "WindowCall",
    "WindowExpression",
    "WindowFunctions",
    "attributes",
    "children",
    "combined",
    "json_path",
    "nearest",
    "never_null",
    "parse",
    "parse_window",
    "read_times",
    "read_zone",
    "reading",
    "regular",
    "replacement",
    "result_name",
    "substituted",
    "text_of",
    "time_guard",
    "walk",
    "written_times",
]
