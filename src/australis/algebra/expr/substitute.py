"""Substitution: an expression over the attributes that a Map computes, rewritten over the Map's inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from australis.algebra.expr.tree import Attribute, Call, Case, Cast, Expr, UserCall


def substituted(expr: Expr, computed: Mapping[str, Expr]) -> Expr:
    """An expression with some attributes replaced by other expressions."""
    match expr:
        case Attribute(name=name):
            return computed[name]
        case Call(args=args) | UserCall(args=args):
            return replace(expr, args=tuple(substituted(arg, computed) for arg in args))
        case Cast(arg=arg):
            return replace(expr, arg=substituted(arg, computed))
        case Case(branches=branches, otherwise=otherwise):
            ways = tuple((substituted(w, computed), substituted(t, computed)) for w, t in branches)
            return replace(expr, branches=ways, otherwise=substituted(otherwise, computed))
    return expr
