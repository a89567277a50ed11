"""The settings as texts: a file with every default and its comment, and a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import BaseModel

from australis.service.settings.model import ServiceSettings
from australis.service.settings.reading import section_of

_HEAD = "# The settings of `australis serve`, with their defaults. What is left out has its default.\n"


def default_text() -> str:
    """A file with all settings, each with what it is for; what has no default is commented out."""
    return _HEAD + "\n".join(_lines(ServiceSettings, "", "")) + "\n"


def _lines(section: type[BaseModel], before: str, indent: str) -> Iterator[str]:
    for name, field in section.model_fields.items():
        if not indent:
            yield ""
        yield f"{indent}# {field.description}"
        below = section_of(f"{before}{name}")
        if below is not None:
            yield f"{indent}{name}:"
            yield from _lines(below, f"{before}{name}.", f"{indent}  ")
            continue
        value = field.get_default(call_default_factory=True)
        sign = "# " if value is None else ""
        yield f"{indent}{sign}{name}: {_shown(value)}".rstrip()


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return yaml.safe_dump(value, default_flow_style=True, width=1_000).removesuffix("\n...\n").strip()


def settings_schema() -> str:
    """The JSON Schema of the file, as text."""
    schema = ServiceSettings.model_json_schema()
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"
