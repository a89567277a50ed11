"""The grammar of expressions: tokens in, syntax out.

Precedence is Spark SQL's, loosest first: OR; AND; NOT; one of BETWEEN, IN, LIKE, RLIKE, IS; comparisons;
+ - ||; * / % DIV; unary minus. There is no rule here for anything outside the subset, so it cannot get
through.
"""

from __future__ import annotations

from australis.algebra.expr.parsing.operands import Operands
from australis.algebra.expr.parsing.syntax import Apply, Constant, Syntax
from australis.algebra.expr.parsing.tokens import Kind
from australis.algebra.types import BOOLEAN

_OR, _AND, _NOT, _PREDICATE, _COMPARISON, _SUM, _PRODUCT, _TIGHTEST = range(1, 9)
_LEVELS = {
    "OR": _OR,
    "AND": _AND,
    **dict.fromkeys(("NOT", "BETWEEN", "IN", "LIKE", "RLIKE", "REGEXP", "IS"), _PREDICATE),
    **dict.fromkeys(("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"), _COMPARISON),
    **dict.fromkeys(("+", "-", "||"), _SUM),
    **dict.fromkeys(("*", "/", "%", "DIV"), _PRODUCT),
}
_NAMES = {"==": "=", "!=": "<>"}


class Grammar(Operands):
    """Reads one text from left to right; every method reads one construct and returns its syntax.

    >>> Grammar("a + b > 3").whole().function
    '>'
    """

    def whole(self) -> Syntax:
        """The expression that the whole text forms."""
        node = self.expression()
        self.end()
        return node

    def expression(self) -> Syntax:
        """Any expression."""
        return self._operators(_OR)

    def _operators(self, loosest: int) -> Syntax:
        """An expression whose operators bind at least as tightly as a level."""
        self.enter()
        node = self._negation() if loosest <= _NOT and self.at("NOT", "!") else self._signed()
        tightest = _TIGHTEST
        while loosest <= (level := self._level()) <= tightest:
            if level == _PREDICATE:
                node = self._predicate(node)
                tightest = _NOT  # Spark has no predicate of a predicate: x IS NULL IS NULL.
            else:
                node = self._junction(node, level) if level <= _AND else self._operation(node, level)
        self.leave()
        return node

    def _level(self) -> int:
        return _LEVELS.get(self.here.value, 0) if self.here.kind in (Kind.WORD, Kind.SIGN) else 0

    def _operation(self, node: Syntax, level: int) -> Syntax:
        token = self.advance()
        name = _NAMES.get(token.value, token.value.lower())
        other = self._operators(level + 1)
        if name == "||":
            # a || b || c is one concatenation of three.
            before = node.args if isinstance(node, Apply) and node.function == "concat" else (node,)
            return self.apply(token.position, "concat", *before, other)
        return self.apply(token.position, name, node, other)

    def _junction(self, node: Syntax, level: int) -> Syntax:
        """A chain of ANDs or ORs, as a balanced tree: it may be long without being deep."""
        nodes, positions = [node], []
        name = self.here.value
        while token := self.take(name):
            positions.append(token.position)
            nodes.append(self._operators(level + 1))
        return self._balanced(name.lower(), nodes, positions)

    def _balanced(self, name: str, nodes: list[Syntax], positions: list[int]) -> Syntax:
        if len(nodes) == 1:
            return nodes[0]
        half = (len(nodes) + 1) // 2
        left = self._balanced(name, nodes[:half], positions[: half - 1])
        right = self._balanced(name, nodes[half:], positions[half:])
        return self.apply(positions[half - 1], name, left, right)

    def _negation(self) -> Syntax:
        token = self.advance()
        return self.apply(token.position, "not", self._operators(_NOT))

    # --- predicates

    def _predicate(self, value: Syntax) -> Syntax:
        position = self.here.position
        negated = self.take("NOT") is not None
        if not negated and self.take("IS"):
            return self._is(value, position)
        if self.take("BETWEEN"):
            node = self._between(value, position)
        elif self.take("IN"):
            node = self.apply(position, "in", value, *self.arguments())
        elif self.take("LIKE"):
            node = self.apply(position, "like", value, self._operators(_COMPARISON))
        elif self.take("RLIKE", "REGEXP"):
            node = self.apply(position, "rlike", value, self._operators(_COMPARISON))
        else:
            self.refuse_here("BETWEEN, IN, LIKE or RLIKE")
        return self.apply(position, "not", node) if negated else node

    def _between(self, value: Syntax, position: int) -> Syntax:
        low = self._operators(_COMPARISON)
        self.expect("AND")
        high = self._operators(_COMPARISON)
        ends = ((">=", low), ("<=", high))
        return self.apply(position, "and", *(self.apply(position, sign, value, end) for sign, end in ends))

    def _is(self, value: Syntax, position: int) -> Syntax:
        negated = self.take("NOT") is not None
        if self.take("NULL"):
            node = self.apply(position, "is_null", value)
        elif token := self.take("TRUE", "FALSE"):
            truth = Constant(token.value == "TRUE", BOOLEAN, position=token.position)
            node = self.apply(position, "<=>", value, truth)
        elif self.take("DISTINCT"):
            self.expect("FROM")
            node = self.apply(position, "<=>", value, self._operators(_COMPARISON))
            negated = not negated
        else:
            self.refuse_here("NULL, TRUE, FALSE or DISTINCT FROM")
        return self.apply(position, "not", node) if negated else node

    def _signed(self) -> Syntax:
        negations = []
        while token := self.take("-", "+"):
            if token.value == "-" and self.here.kind is Kind.NUMBER:
                # The sign belongs to the literal, as in Spark: -2147483648 is an int, 2147483648 is not.
                node = self.number("-", token.position)
                break
            negations += [token.position] * (token.value == "-")
        else:
            node = self.element(self.primary())
        for position in reversed(negations):
            node = self.apply(position, "negate", node)
        return node
