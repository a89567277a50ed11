"""From the text of an expression to its syntax tree.

In: text. `tokens` cuts it into words and signs, `grammar` and `operands` build the tree. Out: the tree of
`syntax`. Nothing here knows a schema.
"""

from australis.algebra.expr.parsing.grammar import Grammar
from australis.algebra.expr.parsing.operands import RESERVED
from australis.algebra.expr.parsing.other_names import OTHER_WINDOW_NAMES
from australis.algebra.expr.parsing.syntax import (
    CHAINED,
    Apply,
    Choice,
    Constant,
    Convert,
    Name,
    Syntax,
    UserApply,
    names,
)
from australis.algebra.expr.parsing.tokens import Kind, Token

__all__ = [
    "CHAINED",
    "OTHER_WINDOW_NAMES",
    "RESERVED",
    "Apply",
    "Choice",
    "Constant",
    "Convert",
    "Grammar",
    "Kind",
    "Name",
    "Syntax",
    "Token",
    "UserApply",
    "names",
]
