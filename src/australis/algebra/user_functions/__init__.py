"""User-defined Python functions, registered by name in the running program; networks can only name them.

A network names a function as `module:function`; the program that runs the network must have registered it.
In: Arrow arrays, or Python values, as the function was registered. Out: Arrow arrays of the declared type, or
an error that names the function, and the arguments where one row is to blame.
"""

from australis.algebra.user_functions.aggregates import ArrowAggregate, UserAggregate
from australis.algebra.user_functions.calls import CallOverran, TimeLimit, limit_calls, plain
from australis.algebra.user_functions.registry import (
    UserFunction,
    register_aggregate,
    register_all,
    register_arrow_aggregate,
    register_function,
    register_scalar,
    registered,
    row_function,
    user_aggregate,
)
from australis.algebra.user_functions.rows import RowFunction

__all__ = [
    "ArrowAggregate",
    "CallOverran",
    "RowFunction",
    "TimeLimit",
    "UserAggregate",
    "UserFunction",
    "limit_calls",
    "plain",
    "register_aggregate",
    "register_all",
    "register_arrow_aggregate",
    "register_function",
    "register_scalar",
    "registered",
    "row_function",
    "user_aggregate",
]
