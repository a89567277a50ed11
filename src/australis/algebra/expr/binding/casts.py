"""Which types a CAST may connect."""

from __future__ import annotations

from australis.algebra.types import DataType

_NUMBERS = ("int", "long", "double", "decimal")
_TARGETS = {
    **dict.fromkeys(("int", "long", "decimal"), (*_NUMBERS, "string", "boolean", "timestamp")),
    "double": (*_NUMBERS, "boolean", "timestamp"),
    "string": (*_NUMBERS, "string", "boolean", "timestamp"),
    "boolean": (*_NUMBERS, "string", "boolean"),
    "timestamp": (*_NUMBERS, "string", "timestamp"),
    "null": (*_NUMBERS, "string", "boolean", "timestamp"),
    "interval": (),
    "array<string>": (),
}


def cast_refused(source: DataType, target: DataType) -> str:
    """What to write instead of a cast that does not exist; empty if it exists.

    >>> from australis.algebra.types import BOOLEAN, DOUBLE, LONG, STRING
    >>> cast_refused(LONG, STRING)
    ''
    >>> cast_refused(DOUBLE, STRING)
    'CAST(CAST(... AS decimal(p,s)) AS string): the text of a double depends on the Java version'
    """
    if target.name in _TARGETS[source.name]:
        return ""
    if (source.name, target.name) == ("double", "string"):
        return "CAST(CAST(... AS decimal(p,s)) AS string): the text of a double depends on the Java version"
    return (
        f"one of {', '.join(_TARGETS[source.name])}" if _TARGETS[source.name] else f"no cast of an {source}"
    )
