"""Paths into JSON: `$.device.readings[0]`, `$['a b']`."""

from __future__ import annotations

import re
from functools import lru_cache

from australis.algebra.expr.patterns.failure import PatternError

STEPS_MAX = 100
"""How many steps a path may have."""
INDEX_MAX = 2**31 - 1

Step = str | int
"""The name of a field, or the index of an element."""

_STEP = re.compile(
    r"\.(?P<plain>[^\s.\[\]'?*][^.\[\]'?*]*)|\['(?P<quoted>[^\s'?*][^'?]*)'\]|\[(?P<index>[0-9]{1,10})\]"
)


@lru_cache(maxsize=256)
def json_path(text: str) -> tuple[Step, ...]:
    """The steps of a path.

    >>> json_path("$.device['read ings'][0]")
    ('device', 'read ings', 0)
    """
    if not text.startswith("$"):
        raise PatternError("a path that does not begin with $", "such as $.device.readings[0]")
    steps: list[Step] = []
    place = 1
    while place < len(text):
        found = _STEP.match(text, place)
        if not found or int(found["index"] or 0) > INDEX_MAX:
            what = f"{text[place:]!r} is no step of a path"
            raise PatternError(what, "fields as .name or ['name'] and indexes as [0], without wildcards")
        steps.append(int(found["index"]) if found["index"] else found["plain"] or found["quoted"])
        place = found.end()
    if len(steps) > STEPS_MAX:
        raise PatternError(f"a path of {len(steps)} steps", f"at most {STEPS_MAX}")
    return tuple(steps)
