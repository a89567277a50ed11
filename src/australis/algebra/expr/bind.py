"""Binding: syntax and a schema in, the typed tree out, with every coercion written as a cast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from australis.algebra.expr.binding import (
    ATTRIBUTE_LENGTH,
    GROWING,
    RESULT_LENGTH_MAX,
    Mismatch,
    Signature,
    cast_refused,
    check_count,
    convert,
    fitting,
    longest,
    meeting_of,
)
from australis.algebra.expr.failure import nearest, refuse
from australis.algebra.expr.functions import FUNCTIONS
from australis.algebra.expr.parsing import Apply, Choice, Constant, Convert, Name, Syntax, UserApply
from australis.algebra.expr.tree import Attribute, Call, Case, Expr, Literal, UserCall
from australis.algebra.guards import Gathering
from australis.algebra.schema import Schema
from australis.algebra.types import BOOLEAN, DataType
from australis.algebra.user_functions import row_function
from australis.errors import AlgebraError

Sides = Schema | Mapping[str, Schema]
"""The schema of a stream, or those of the `left` and `right` tuples of a pair."""


class Binder:
    """Gives types to the syntax of one text."""

    def __init__(self, text: str, sides: Sides) -> None:
        self.text = text
        self._sides = sides

    def bind(self, node: Syntax) -> Expr:
        """The typed tree of a node."""
        match node:
            case Constant(value=value, type=type_):
                return Literal(value, type_)
            case Name():
                return self._attribute(node)
            case Apply(function=function, args=args):
                signature = self.signature(node, args)
                call = Call(function, signature.args, signature.type, signature.nullable)
                return self._bounded(call, node.position) if function in GROWING else call
            case UserApply():
                return self._user_call(node)
            case Choice():
                return self._case(node)
            case Convert():
                return self._cast(node)
        raise AssertionError(f"there is no rule for {node}")

    def all(self, nodes: Sequence[Syntax]) -> tuple[Expr, ...]:
        """The typed trees of some nodes."""
        bound = []
        with Gathering() as found:
            for node in nodes:
                with found.at():
                    bound.append(self.bind(node))
        return tuple(bound)

    def signature(self, node: Apply, args: Sequence[Syntax]) -> Signature:
        """How a call of the function table types."""
        bound = self.all(args)
        try:
            return FUNCTIONS[node.function](bound)
        except Mismatch as mismatch:
            self.refuse_mismatch(node.function, node.position, args, mismatch)

    def refuse_mismatch(
        self, function: str, position: int, args: Sequence[Syntax], mismatch: Mismatch
    ) -> NoReturn:
        """Report a call that does not fit its function, at the argument or at the call."""
        at = position if mismatch.index is None else start_of(args[mismatch.index])
        refuse(self.text, at, f"{function!r}: {mismatch.what}", mismatch.expected)

    def _bounded(self, call: Call, position: int) -> Call:
        most = self.length(call)
        if most > RESULT_LENGTH_MAX:
            expected = f"at most {RESULT_LENGTH_MAX} if an attribute has {ATTRIBUTE_LENGTH}"
            refuse(self.text, position, f"a text of up to {most} characters", expected)
        return call

    def length(self, call: Call) -> int:
        """The most characters of the text that a call makes."""
        return longest(call)

    # --- attributes

    def _attribute(self, node: Name) -> Expr:
        schema = self._schema(node)
        if node.name not in schema:
            self._refuse_attribute(node, schema)
        field = schema[node.name]
        return Attribute(field.name, field.type, field.nullable, node.side)

    def _schema(self, node: Name) -> Schema:
        if isinstance(self._sides, Schema):
            if node.side is not None:
                refuse(
                    self.text, node.position, f"{node.side!r} is only known in a pair", f"{node.name!r} alone"
                )
            return self._sides
        if node.side is None:
            both = " or ".join(f"{side}.{node.name}" for side in self._sides)
            refuse(self.text, node.position, f"{node.name!r} could be of either tuple of the pair", both)
        return self._sides[node.side]

    def _refuse_attribute(self, node: Name, schema: Schema) -> NoReturn:
        near = nearest(node.name, schema.names)
        hint = f"one of {', '.join(schema.names)}" + (f" (perhaps {near!r})" if near else "")
        if not near and self.text.strip() == node.name:
            hint += f", or, if it is a text, \"'{node.name}'\""
        refuse(self.text, node.position, f"unknown attribute {node.column!r}", hint)

    # --- the other nodes

    def _user_call(self, node: UserApply) -> Expr:
        try:
            function = row_function(node.name)
        except AlgebraError as error:
            refuse(self.text, node.position, error.problems[0].what, error.problems[0].expected)
        args = self.user_arguments(node, function.takes)
        return UserCall(node.name, args, function.returns)

    def user_arguments(self, node: UserApply, types: tuple[DataType, ...]) -> tuple[Expr, ...]:
        """The arguments of a registered function in the types it takes."""
        bound = self.all(node.args)
        try:
            check_count(bound, len(types), len(types))
            return tuple(fitting(bound, index, type_) for index, type_ in enumerate(types))
        except Mismatch as mismatch:
            self.refuse_mismatch(node.name, node.position, node.args, mismatch)

    def _case(self, node: Choice) -> Expr:
        conditions = tuple(self._condition(condition) for condition, _ in node.branches)
        values = (*(value for _, value in node.branches), node.otherwise)
        try:
            *thens, otherwise = meeting_of(self.all(values))
        except Mismatch as mismatch:
            self.refuse_mismatch("CASE", node.position, values, mismatch)
        nullable = otherwise.nullable or any(then.nullable for then in thens)
        return Case(tuple(zip(conditions, thens, strict=True)), otherwise, otherwise.type, nullable)

    def _condition(self, node: Syntax) -> Expr:
        bound = self.bind(node)
        try:
            return fitting((bound,), 0, BOOLEAN)
        except Mismatch as mismatch:
            self.refuse_mismatch("CASE", node.position, (node,), mismatch)

    def _cast(self, node: Convert) -> Expr:
        arg = self.bind(node.arg)
        if instead := cast_refused(arg.type, node.type):
            refuse(self.text, node.position, f"no CAST from {arg.type} to {node.type}", instead)
        return convert(arg, node.type)


def start_of(node: Syntax) -> int:
    """The position of a node's first character: an operator's own position is after its left operand."""
    return min((node.position, *map(start_of, node.parts())))
