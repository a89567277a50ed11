"""JSON and YAML texts as documents of plain values, and back; both hold the same values, with unique keys."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import yaml

from australis.algebra.guards import shown
from australis.errors import FormError, Problem

Json = Any


class _Repeated(Exception):
    """An object that has a key twice."""


def parse_json(text: str) -> Json:
    """The document in a JSON text."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_int=_whole_number)
    except json.JSONDecodeError as error:
        raise _refused("", f"is not valid JSON: {error.msg}", "", text, error.pos) from None
    except _Repeated:
        key, position = _second_occurrence(text)
        raise _refused(key, "occurs twice", "each id only once", text, position) from None


def _refused(path: str, what: str, expected: str, text: str, position: int) -> FormError:
    """An error that gives the line and column of the text."""
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    return FormError(Problem(path, f"{what} at line {line}, column {column}", expected, text, position))


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Repeated
    return found


_JSON_TOKEN = re.compile(r'(?P<text>"[^"\\]*(?:\\.[^"\\]*)*")(?P<colon>\s*:)?|(?P<brace>[{}])', re.DOTALL)


def _second_occurrence(text: str) -> tuple[str, int]:
    """The first repeated key of an object, and its position; the text is valid JSON up to there."""
    keys_of_open: list[set[str]] = []
    for token in _JSON_TOKEN.finditer(text):
        if token["brace"] == "{":
            keys_of_open.append(set())
        elif token["brace"]:
            keys_of_open.pop()
        elif token["colon"]:
            key = json.loads(token["text"])
            if key in keys_of_open[-1]:
                return key, token.start()
            keys_of_open[-1].add(key)
    raise AssertionError("no object has a key twice")


def _whole_number(digits: str) -> int:
    """Python limits the digits that it converts, because conversion time grows with their square."""
    try:
        return int(digits)
    except ValueError:
        raise FormError(Problem("", f"has a number of {len(digits)} digits", "a shorter one")) from None


class _Loader(yaml.SafeLoader):
    """YAML with the values of JSON: `on` is a text, not true; `1:30` is a text, not 90; a key occurs once.

    Anchors are refused, since a short text with aliases of aliases can describe a document without end.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if event.anchor is not None:
            self._refuse(event, "", "has an anchor or an alias", "every value written out")
        if getattr(event, "tag", None) is not None:
            self._refuse(event, "", f"has the tag {shown(event.tag)}", "a value without a tag")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        found: dict[str, Json] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                self._refuse(key_node, shown(key), "is not a text", "a text as a name; put it in quotes")
            if key in found:
                self._refuse(key_node, key, "occurs twice", "each id only once")
            found[key] = self.construct_object(value_node, deep=True)
        return found

    def _refuse(self, place: yaml.Event | yaml.Node, path: str, what: str, expected: str) -> NoReturn:
        mark = place.start_mark
        assert mark is not None
        raise _refused(path, what, expected, self.text, mark.index)


_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: _whole_number(node.value))


class _Dumper(yaml.SafeDumper):
    """Writes YAML that `_Loader` reads back equal."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Write texts in double quotes, which can escape every character; other styles fold line breaks."""
        style = None if text.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(str, _Dumper.represent_text)


def _json_values(cls: type[_Loader] | type[_Dumper]) -> None:
    cls.yaml_implicit_resolvers = {}
    for tag, pattern, first in (
        ("bool", r"true|false", "tf"),
        ("null", r"null|", ["n", ""]),
        ("int", r"-?(0|[1-9][0-9]*)", "-0123456789"),
        ("float", r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?", "-0123456789"),
    ):
        cls.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first))


_json_values(_Loader)
_json_values(_Dumper)


def parse_yaml(text: str) -> Json:
    """The document in a YAML text."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        if error.problem_mark is None:
            raise FormError(Problem("", f"is not valid YAML: {error.problem}")) from None
        raise _refused(
            "", f"is not valid YAML: {error.problem}", "", text, error.problem_mark.index
        ) from None
    except yaml.YAMLError as error:
        raise FormError(Problem("", f"is not valid YAML: {error}")) from None


def write_json(document: Json) -> str:
    """The JSON text of a document."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def write_yaml(document: Json) -> str:
    """The YAML text of a document."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
