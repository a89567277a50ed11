"""The grammar of expressions: tokens in, syntax out.

Precedence is Spark SQL's, loosest first: OR; AND; NOT; one of BETWEEN, IN, LIKE, IS; comparisons; + - ||;
* / % DIV; unary minus. What the subset does not have has no rule here, so it cannot get through.
"""

from __future__ import annotations

from collections.abc import Callable

from australis.algebra.expr.operands import Operands
from australis.algebra.expr.syntax import DEPTH_MAX, Constant, Syntax
from australis.algebra.expr.tokens import Kind
from australis.algebra.types import BOOLEAN

_COMPARISONS = {
    "=": "=",
    "==": "=",
    "<>": "<>",
    "!=": "<>",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
    "<=>": "<=>",
}
_SUMS = {"+": "+", "-": "-", "||": "concat"}
_PRODUCTS = {"*": "*", "/": "/", "%": "%", "DIV": "div"}


class Grammar(Operands):
    """Reads one text from left to right; every method reads one construct and gives its syntax.

    >>> Grammar("a + b > 3").whole().function
    '>'
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._open = 0

    def whole(self) -> Syntax:
        """The expression that the whole text is."""
        node = self.expression()
        self.end()
        return node

    def expression(self) -> Syntax:
        """Any expression; everything in parentheses comes through here, so depth is guarded here."""
        self._open += 1
        if self._open > DEPTH_MAX:
            self.refuse_depth(self.here.position)
        node = self._chain(self._conjunction, {"OR": "or"})
        self._open -= 1
        return node

    def _conjunction(self) -> Syntax:
        return self._chain(self._negation, {"AND": "and"})

    def _negation(self) -> Syntax:
        negations = []
        while token := self.take("NOT", "!"):
            negations.append(token.position)
        node = self._predicate()
        for position in reversed(negations):
            node = self.apply(position, "not", node)
        return node

    def _predicate(self) -> Syntax:
        value = self._comparison()
        token = self.here
        negated = self.take("NOT") is not None
        node = self._predicate_of(value)
        if node is None and negated:
            self.refuse_here("BETWEEN, IN or LIKE")
        if node is None:
            return value
        return self.apply(token.position, "not", node) if negated else node

    def _predicate_of(self, value: Syntax) -> Syntax | None:
        if token := self.take("BETWEEN"):
            return self._between(value, token.position)
        if token := self.take("IN"):
            return self.apply(token.position, "in", value, *self.arguments())
        if token := self.take("LIKE"):
            return self.apply(token.position, "like", value, self._comparison())
        if token := self.take("IS"):
            return self._is(value, token.position)
        return None

    def _between(self, value: Syntax, position: int) -> Syntax:
        low = self._comparison()
        self.expect("AND")
        high = self._comparison()
        at_least, at_most = (
            self.apply(position, sign, value, end) for sign, end in ((">=", low), ("<=", high))
        )
        return self.apply(position, "and", at_least, at_most)

    def _is(self, value: Syntax, position: int) -> Syntax:
        negated = self.take("NOT") is not None
        if self.take("NULL"):
            node = self.apply(position, "is_null", value)
        elif token := self.take("TRUE", "FALSE"):
            truth = Constant(token.value == "TRUE", BOOLEAN, position=token.position)
            node = self.apply(position, "<=>", value, truth)
        elif self.take("DISTINCT"):
            self.expect("FROM")
            node = self.apply(position, "<=>", value, self._comparison())
            negated = not negated
        else:
            self.refuse_here("NULL, TRUE, FALSE or DISTINCT FROM")
        return self.apply(position, "not", node) if negated else node

    def _comparison(self) -> Syntax:
        return self._chain(self._sum, _COMPARISONS)

    def _sum(self) -> Syntax:
        return self._chain(self._product, _SUMS)

    def _product(self) -> Syntax:
        return self._chain(self._signed, _PRODUCTS)

    def _chain(self, operand: Callable[[], Syntax], signs: dict[str, str]) -> Syntax:
        node = operand()
        while token := self.take(*signs):
            node = self.apply(token.position, signs[token.value], node, operand())
        return node

    def _signed(self) -> Syntax:
        negations = []
        while token := self.take("-", "+"):
            if token.value == "-" and self.here.kind is Kind.NUMBER:
                # The sign belongs to the literal, as in Spark: -2147483648 is an int, 2147483648 is none.
                node = self.number("-", token.position)
                break
            negations += [token.position] * (token.value == "-")
        else:
            node = self.primary()
        for position in reversed(negations):
            node = self.apply(position, "negate", node)
        return node
