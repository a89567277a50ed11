"""The JSON and YAML form of networks.

`form` reads and writes whole networks, `codecs` knows each part of one, `documents` turns texts into plain
values and back. What is written reads back equal.
"""

from australis.algebra.form.form import (
    SUFFIXES,
    dumps,
    from_json,
    json_schema,
    load,
    loads,
    schema_text,
    to_json,
)

__all__ = [
    "SUFFIXES",
    "dumps",
    "from_json",
    "json_schema",
    "load",
    "loads",
    "schema_text",
    "to_json",
]
