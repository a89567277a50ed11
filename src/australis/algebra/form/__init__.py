"""The JSON and YAML form of networks.

Text or plain values come in, a network goes out, and back: what is written reads back equal. `form` reads and
writes whole networks, `codecs` knows each part of one, `documents` turns texts into plain values.
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
