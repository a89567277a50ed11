"""The JSON and YAML form of networks.

Texts or plain values become a network, and a network becomes text that reads back as an equal network. `form`
reads and writes whole networks, `codecs` knows each part of one, `documents` turns texts into plain values.
"""

from australis.algebra.form.documents import parse_yaml
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
    "parse_yaml",
    "schema_text",
    "to_json",
]
