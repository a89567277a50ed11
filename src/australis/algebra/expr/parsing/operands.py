"""Operands: literals, attributes, CASE, and calls of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from australis.algebra.expr.failure import nearest, refuse
from australis.algebra.expr.functions import FUNCTIONS, LEFT_OUT
from australis.algebra.expr.literals import (
    INSTANT_MAX_US,
    UNITS_US,
    interval_us,
    is_timestamp,
    number,
    timestamp_us,
)
from australis.algebra.expr.parsing.other_names import OTHER_NAMES
from australis.algebra.expr.parsing.reader import Reader
from australis.algebra.expr.parsing.syntax import Apply, Choice, Constant, Convert, Name, Syntax, UserApply
from australis.algebra.expr.parsing.tokens import Kind, Token
from australis.algebra.types import BOOLEAN, INTERVAL, NULL, STRING, TIMESTAMP, DataType, parse_type
from australis.errors import AlgebraError

SIDES = ("left", "right")
_OPERATOR_WORDS = ("AND", "OR", "NOT", "IN", "IS", "LIKE", "BETWEEN", "DIV")
RESERVED = frozenset(
    (*_OPERATOR_WORDS, "CASE", "WHEN", "THEN", "ELSE", "END", "NULL", "TRUE", "FALSE", "SELECT")
)
"""Words that can name an attribute only in backticks."""


class Operands(Reader):
    """Reads the operands between operators."""

    def expression(self) -> Syntax:
        """Any expression; the operators are handled above this class."""
        raise NotImplementedError

    def primary(self) -> Syntax:
        """One operand."""
        token = self.here
        match token.kind:
            case Kind.NUMBER:
                return self.number("", token.position)
            case Kind.STRING:
                return Constant(self._strings(), STRING, position=token.position)
            case Kind.QUOTED:
                return self._quoted()
            case Kind.WORD:
                return self._word()
        if self.take("("):
            node = self.expression()
            self.expect(")")
            return node
        self.refuse_here("an expression")

    def element(self, node: Syntax) -> Syntax:
        """An operand, or one of its elements if brackets follow."""
        while token := self.take("["):
            index = self.expression()
            self.expect("]")
            node = self.apply(token.position, "get", node, index)
        return node

    def number(self, sign: str, position: int) -> Syntax:
        """A number, with the sign that was read before it."""
        token = self.advance()
        found = number(sign + token.text)
        if found is None:
            refuse(
                self.text,
                token.position,
                f"{token} is not a number of a known type",
                "such as 30, 30L, 1.5, 1.5D or 1e3",
            )
        return Constant(*found, position=position)

    def _strings(self) -> str:
        """Adjacent strings are one string."""
        value = self.advance().value
        while self.here.kind is Kind.STRING:
            value += self.advance().value
        return value

    def _quoted(self) -> Syntax:
        token = self.advance()
        if not self.at("("):
            return self._name(token.value, token)
        if ":" not in token.value:
            refuse(
                self.text,
                token.position,
                f"unknown function {token.value!r}",
                "`module:function` of a registered one",
            )
        return self.limited(UserApply(token.value, self.arguments(), position=token.position))

    def _word(self) -> Syntax:
        token = self.advance()
        following = self.here
        match token.value:
            case "TRUE" | "FALSE":
                return Constant(token.value == "TRUE", BOOLEAN, position=token.position)
            case "NULL":
                return Constant(None, NULL, position=token.position)
            case "CASE":
                return self._case(token.position)
            case "TIMESTAMP" if following.kind is Kind.STRING:
                return self._timestamp(token.position)
            case "INTERVAL" if self._amount_follows():
                return self._interval(token.position)
        if token.value in RESERVED:
            self._index -= 1
            self.refuse_here("an expression")
        return self._function(token) if self.at("(") else self._name(token.text, token)

    def _name(self, name: str, token: Token) -> Syntax:
        if not self.take("."):
            return Name(name, None, position=token.position)
        if name not in SIDES:
            refuse(
                self.text,
                token.position,
                f"unknown qualifier {name!r}",
                "'left.' or 'right.', or no qualifier",
            )
        attribute = self.advance()
        if attribute.kind not in (Kind.WORD, Kind.QUOTED):
            refuse(self.text, attribute.position, f"unexpected {attribute}", "the name of an attribute")
        bare = attribute.value if attribute.kind is Kind.QUOTED else attribute.text
        return Name(bare, name, position=token.position)

    def _case(self, position: int) -> Syntax:
        subject = None if self.at("WHEN") else self.expression()
        branches = []
        while token := self.take("WHEN"):
            condition = self.expression()
            if subject is not None:
                condition = self.apply(token.position, "=", subject, condition)
            self.expect("THEN")
            branches.append((condition, self.expression()))
        if not branches:
            self.refuse_here("WHEN")
        otherwise = self.expression() if self.take("ELSE") else Constant(None, NULL, position=position)
        self.expect("END")
        return self.limited(Choice(tuple(branches), otherwise, position=position))

    def _timestamp(self, position: int) -> Syntax:
        at = self.here.position
        text = self._strings()
        if (instant := timestamp_us(text)) is not None:
            return Constant(instant, TIMESTAMP, position=position)
        if not is_timestamp(text):
            refuse(self.text, at, f"{text!r} is not a timestamp", "'yyyy-mm-dd hh:mm:ss[.ffffff][zone]'")
        return Convert(Constant(text, STRING, position=at), TIMESTAMP, position=position)

    def _interval(self, position: int) -> Syntax:
        total = 0
        while self._amount_follows():
            amount, unit = self._amount(), self.advance()
            part = interval_us(amount, unit.text)
            if part is None or abs(total + part) > INSTANT_MAX_US:
                units = ", ".join(UNITS_US)
                refuse(self.text, position, f"no interval {amount} {unit.text}", f"a whole number of {units}")
            total += part
        return Constant(total, INTERVAL, position=position)

    def _amount_follows(self) -> bool:
        """Whether a number comes next; after a minus only with a unit, otherwise the minus is an operator."""
        if not self.at("-"):
            return self.here.kind in (Kind.STRING, Kind.NUMBER)
        amount, unit = (*self._tokens[self._index + 1 : self._index + 3], self.here, self.here)[:2]
        return amount.kind in (Kind.STRING, Kind.NUMBER) and unit.value.removesuffix("S") in UNITS_US

    def _amount(self) -> str:
        sign = "-" if self.take("-") else ""
        token = self.advance()
        return sign + token.value.strip()

    def _function(self, token: Token) -> Syntax:
        self.enter()
        node = self._function_of(token)
        self.leave()
        return node

    def _function_of(self, token: Token) -> Syntax:
        name = token.text.lower()
        match name:
            case "cast":
                return self._cast(token.position)
            case "timestampdiff":
                return self._timestampdiff(token.position)
        if name in _SUGAR:
            return self._sugar(name, token.position)
        if name not in FUNCTIONS or not name.isidentifier() or name in _OPERATOR_NAMES:
            self._refuse_function(token)
        node = self.apply(token.position, name, *self.arguments())
        if self.at("OVER"):
            self.refuse_here("an operator or the end of the text")
        return node

    def arguments(self) -> tuple[Syntax, ...]:
        """Expressions between parentheses."""
        self.expect("(")
        args: list[Syntax] = []
        if self.take(")"):
            return ()
        while not args or self.take(","):
            args.append(self.expression())
        self.expect(")")
        return tuple(args)

    def _cast(self, position: int) -> Syntax:
        self.expect("(")
        arg = self.expression()
        self.expect("AS")
        type_ = self._type()
        self.expect(")")
        return self.limited(Convert(arg, type_, position=position))

    def _type(self) -> DataType:
        token = self.advance()
        text = token.text
        if self.at("("):
            while not self.at(")") and self.here.kind is not Kind.END:
                text += self.advance().text
            text += self.advance().text
        try:
            return parse_type(text)
        except AlgebraError as error:
            problem = error.problems[0]
            refuse(self.text, token.position, problem.what, problem.expected)

    def _timestampdiff(self, position: int) -> Syntax:
        self.expect("(")
        unit = self.advance()
        self.expect(",")
        start = self.expression()
        self.expect(",")
        end = self.expression()
        self.expect(")")
        return self.apply(
            position,
            "timestampdiff",
            Constant(unit.value.upper(), STRING, position=unit.position),
            start,
            end,
        )

    def _sugar(self, name: str, position: int) -> Syntax:
        arity, build = _SUGAR[name]
        args = self.arguments()
        if len(args) != arity:
            refuse(self.text, position, f"{name} with {len(args)} arguments", f"{arity}")
        return self.limited(build(position, *args))

    def _refuse_function(self, token: Token) -> NoReturn:
        name = token.text.lower()
        if name in LEFT_OUT:
            refuse(self.text, token.position, f"no function {name!r} in expressions", LEFT_OUT[name])
        if name in OTHER_NAMES:
            refuse(self.text, token.position, f"unknown function {name!r}", OTHER_NAMES[name])
        near = nearest(name, CALLABLE)
        hint = "a function of docs/expressions.md" + (f" (perhaps {near!r})" if near else "")
        refuse(self.text, token.position, f"unknown function {name!r}", hint)


def _if(position: int, condition: Syntax, then: Syntax, otherwise: Syntax) -> Syntax:
    return Choice(((condition, then),), otherwise, position=position)


def _nullif(position: int, value: Syntax, other: Syntax) -> Syntax:
    same = Apply("=", (value, other), position=position)
    return Choice(((same, Constant(None, NULL, position=position)),), value, position=position)


def _coalesce(position: int, value: Syntax, other: Syntax) -> Syntax:
    return Apply("coalesce", (value, other), position=position)


def _nvl2(position: int, value: Syntax, present: Syntax, absent: Syntax) -> Syntax:
    return Choice(((Apply("is_null", (value,), position=position), absent),), present, position=position)


def _rlike(position: int, value: Syntax, pattern: Syntax) -> Syntax:
    return Apply("rlike", (value, pattern), position=position)


_SUGAR: dict[str, tuple[int, Callable[..., Syntax]]] = {
    "if": (3, _if),
    "nullif": (2, _nullif),
    "ifnull": (2, _coalesce),
    "nvl": (2, _coalesce),
    "nvl2": (3, _nvl2),
    "regexp_like": (2, _rlike),
    "regexp": (2, _rlike),
    "rlike": (2, _rlike),
}
_OPERATOR_NAMES = frozenset({"div", "negate", "and", "or", "not", "is_null", "in", "like", "rlike"})
CALLABLE = [
    *(name for name in FUNCTIONS if name.isidentifier() and name not in _OPERATOR_NAMES),
    *_SUGAR,
    "cast",
]
