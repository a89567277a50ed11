"""Reads settings: a file, then the environment, then `key=value`, then options; the later one counts."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from australis.errors import AlgebraError, Problem
from australis.service.settings.model import ServiceSettings

FILE = "australis.yaml"
"""The file that is read if none is named, where the current folder has one."""
PREFIX = "AUSTRALIS_SERVICE_"
"""The prefix of variables of the environment: AUSTRALIS_SERVICE_NODE_ROOT is node.root."""


class SettingsError(AlgebraError):
    """Settings that are not understood; holds every problem found."""


def read_settings(
    file: Path | None = None,
    *,
    environment: Mapping[str, str],
    assigned: Sequence[str] = (),
    options: Mapping[str, object] | None = None,
    folder: Path | None = None,
) -> ServiceSettings:
    """The settings of a file, of the environment, of texts `key=value` and of options, by dotted name.

    >>> read_settings(environment={"AUSTRALIS_SERVICE_LISTEN": "127.0.0.1:1"}, folder=Path("/nowhere"),
    ...               assigned=["node.runner=light"]).node.runner
    'light'
    """
    place = file or (folder or Path.cwd()) / FILE
    document = _document(place, is_named=file is not None)
    origins: dict[str, str] = {}
    given = [
        *((name, value, str(place)) for name, value in _flat(document)),
        *((name, yaml_value(text, key), key) for name, text, key in _variables(environment)),
        *((name, value, "--set") for name, value in map(_assignment, assigned)),
        *((name, value, "") for name, value in (options or {}).items()),
    ]
    found: dict[str, Any] = {}
    for name, value, origin in given:
        _put(found, name, value)
        origins[name] = origin
    return _validated(found, origins)


def _document(place: Path, *, is_named: bool) -> Mapping[str, Any]:
    if not is_named and not place.exists():
        return {}
    try:
        document = yaml.safe_load(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(Problem(str(place), f"cannot be read: {error.strerror}")) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(Problem(str(place), f"is no YAML: {error}")) from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise SettingsError(Problem(str(place), "is no mapping", "settings such as `listen: 127.0.0.1:8400`"))
    return document


def _flat(document: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The settings of a document by dotted name; sections that are left empty have none."""
    for key, value in document.items():
        name = f"{before}{key}"
        if isinstance(value, dict) and section_of(name) is not None:
            yield from _flat(value, f"{name}.")
        elif not (value is None and section_of(name) is not None):
            yield name, value


def section_of(name: str) -> type[BaseModel] | None:
    """The section that a dotted name stands for, if it is one."""
    section: type[BaseModel] = ServiceSettings
    for part in name.split("."):
        field = section.model_fields.get(part)
        if field is None or not _is_section(field):
            return None
        section = field.annotation  # type: ignore[assignment]
    return section


def _is_section(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def setting_names(section: type[BaseModel] = ServiceSettings, before: str = "") -> Iterator[str]:
    """The dotted names of all settings."""
    for name, field in section.model_fields.items():
        if _is_section(field):
            yield from setting_names(field.annotation, f"{before}{name}.")  # type: ignore[arg-type]
        else:
            yield f"{before}{name}"


def variable_of(name: str) -> str:
    """The variable of the environment for a setting.

    >>> variable_of("node.train_limit")
    'AUSTRALIS_SERVICE_NODE_TRAIN_LIMIT'
    """
    return PREFIX + name.replace(".", "_").upper()


def _variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    known = {variable_of(name): name for name in setting_names()}
    for key in sorted(environment):
        if key.startswith(PREFIX):
            if key not in known:
                raise SettingsError(Problem(key, _unknown(key, known), "a setting's name, as in the docs"))
            yield known[key], environment[key], key


def yaml_value(text: str, path: str) -> Any:
    """The value of a text, written as in the file; a text that is no YAML stands for itself."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SettingsError(Problem(path, f"{text!r} is no value: {error}")) from None


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise SettingsError(Problem(f"--set {text}", "has no value", "key=value, such as node.runner=light"))
    return name.strip(), yaml_value(value, f"--set {name}")


def _put(found: dict[str, Any], name: str, value: Any) -> None:
    *sections, last = name.split(".")
    for each in sections:
        found = found.setdefault(each, {})
        if not isinstance(found, dict):
            raise SettingsError(Problem(name, f"{each} is not a section"))
    found[last] = value


def _validated(found: Mapping[str, Any], origins: Mapping[str, str]) -> ServiceSettings:
    try:
        return ServiceSettings.model_validate(found)
    except ValidationError as error:
        raise SettingsError(_problem(each, origins) for each in error.errors()) from None


def _problem(error: Any, origins: Mapping[str, str]) -> Problem:
    """A problem of pydantic's as ours: the setting, where it was given, and what would be right."""
    parts = [str(part) for part in error["loc"]]
    name = ".".join(parts)
    places = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    origin = next((origins[each] for each in places if each in origins), "")
    path = f"{name} ({origin})" if origin else name
    if error["type"] == "extra_forbidden":
        section = section_of(".".join(parts[:-1])) if parts[:-1] else ServiceSettings
        names = list(section.model_fields) if section is not None else []
        return Problem(path, _unknown(parts[-1], names), f"one of {', '.join(names)}" if names else "")
    return Problem(path, f"is {error.get('input')!r}", str(error["msg"]).removeprefix("Input should be "))


def _unknown(name: str, known: Any) -> str:
    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f"is unknown (perhaps {near[0]!r})" if near else "is unknown"
