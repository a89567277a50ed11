"""Write what the editor takes from the algebra: palette, manual pages, and networks that both sides test.

`python scripts/web.py` writes; with `--check` it only says what is out of date, and exits 1 if anything is.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from australis.algebra.boxes import BOXES, SIDES, UNMATCHED, Box
from australis.algebra.expr.functions import FUNCTIONS, OPERATORS
from australis.algebra.expr.window_functions import INTERPOLATIONS, WINDOW_FUNCTIONS, WRITTEN
from australis.algebra.form import load, loads, to_json
from australis.algebra.form.codecs import (
    EXPRESSIONS,
    FIELDS,
    FLAG,
    HOW,
    LENGTH,
    NAMED,
    NUMBER,
    ORDER,
    SIDE,
    SLACK,
    SOME_TEXTS,
    SPAN,
    TEXT,
    TEXTS,
    WHOLE,
    Codec,
)
from australis.algebra.network import Network
from australis.app.demo.network import Beacons, watched
from australis.app.demo.network import network as demo_network

ROOT = Path(__file__).resolve().parents[1]
MADE = ROOT / "web" / "src" / "generated"
GOLDEN = ROOT / "tests" / "web" / "golden"

FAMILIES = {
    "Route and compute": ("filter", "map", "union", "unnest"),
    "Windows": ("aggregate", "tumble", "slide", "xsection", "top"),
    "Earlier tuples": ("changes", "lag", "distinct", "number"),
    "Sort": ("bsort", "wsort"),
    "Two inputs": ("join", "asof", "resample"),
}
"""The palette's sections; every box that users may put in is in one of them."""

_EDITORS: tuple[tuple[Codec, str], ...] = (
    (EXPRESSIONS, "expressions"),
    (NAMED, "window_functions"),
    (ORDER, "order"),
    (SPAN, "span"),
    (LENGTH, "length"),
    (HOW, "choice"),
    (SIDE, "choice"),
    (FLAG, "flag"),
    (WHOLE, "whole"),
    (NUMBER, "number"),
    (SLACK, "span"),
    (SOME_TEXTS, "names"),
    (TEXTS, "names"),
    (TEXT, "name"),
)
_BY_NAME = {
    "predicates": "predicates",
    "predicate": "expression",
    "advance_when": "expression",
    "array": "expression",
    "by": "keys",
    "then": "keys",
}
_CHOICES = {"how": UNMATCHED, "table": SIDES}
_SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(
    r"^\| `(?P<call>.+?)` \| `(?P<result>.*?)` \| (?P<type>.+?) \| (?P<meaning>.+?) \|$", re.MULTILINE
)
_WINDOW_ROW = re.compile(r"^\| (?P<calls>`[^|]+?`) \| (?P<meaning>[^|]+) \| [^|]+ \|$", re.MULTILINE)
_BOX_ROW = re.compile(r"^\| \[(\w+)\]\(#\w+\) \| (.+?) \| (?:yes|no) \|$", re.MULTILINE)
_YAML = re.compile(r"```yaml\n(australis:.*?)```", re.DOTALL)


def catalogue() -> dict[str, Any]:
    """The palette: every box with its ports and parameters, and the functions of expressions."""
    page = (ROOT / "docs" / "boxes.md").read_text()
    does = dict(_BOX_ROW.findall(page))
    placed = {kind: family for family, kinds in FAMILIES.items() for kind in kinds}
    boxes = [_box(box, placed[kind], does[kind]) for kind, box in BOXES.items() if not box.system]
    return {"boxes": boxes, "families": list(FAMILIES), "functions": _functions()}


def _box(box: type[Box], family: str, does: str) -> dict[str, Any]:
    least, most = box.arity
    return {
        "kind": box.kind,
        "family": family,
        "does": does,
        "summary": (box.__doc__ or "").splitlines()[0].replace("`", ""),
        "inputs": [least, most],
        "ordered": box.ordered if isinstance(box.ordered, bool) else True,
        "parameters": [_parameter(field) for field in fields(box)],  # type: ignore[arg-type]
    }


def _parameter(field: Any) -> dict[str, Any]:
    required = field.default is MISSING and field.default_factory is MISSING
    codec = FIELDS[field.name]
    editor = next((name for known, name in _EDITORS if known is codec), None)
    made: dict[str, Any] = {
        "name": field.name,
        "editor": _BY_NAME.get(field.name, editor),
        "required": required,
    }
    if field.name in _CHOICES:
        made["choices"] = list(_CHOICES[field.name])
    if not required and isinstance(field.default, bool | int | str):
        made["default"] = field.default
    return made


def _functions() -> list[dict[str, Any]]:
    page = (ROOT / "docs" / "expressions.md").read_text()
    meant: dict[str, dict[str, str]] = {}
    for row in _ROW.finditer(page):
        name = re.match(r"(\w+)\(", row["call"])
        if name:
            meant.setdefault(name[1], row.groupdict())
    window: dict[str, dict[str, str]] = {}
    for row in _WINDOW_ROW.finditer(page.partition("## Window functions")[2]):
        for call in re.findall(r"`(.+?)`", row["calls"]):
            name = "count_distinct" if "DISTINCT" in call else call.partition("(")[0]
            name = f"{name}_ordered" if "ORDER BY" in call else name
            window.setdefault(name, {"call": call, "meaning": row["meaning"]})
    plain = [name for name in FUNCTIONS if name not in OPERATORS]
    return [
        *(_function(name, "function", meant) for name in plain),
        *(_function(name, "window", window) for name in WINDOW_FUNCTIONS),
        *(_function(name, "interpolation", window) for name in INTERPOLATIONS),
    ]


def _function(name: str, kind: str, meant: dict[str, dict[str, str]]) -> dict[str, Any]:
    row = meant.get(name, {})
    written = WRITTEN.get(name)
    call = row.get("call") or written or f"{name}(x)"
    return {
        "name": written.partition("(")[0] if written else name,
        "kind": kind,
        "call": call.replace("\\|", "|"),
        "type": row.get("type", ""),
        "meaning": row.get("meaning", ""),
    }


def manual() -> dict[str, str]:
    """The manual page of each box, in Markdown."""
    page = (ROOT / "docs" / "boxes.md").read_text()
    sections = {title: body.strip() for title, body in _SECTION.findall(page)}
    return {kind: sections[kind] for kind, box in BOXES.items() if not box.system} | {
        "orders": sections["Orders and progress"]
    }


def networks() -> Iterator[tuple[str, Network]]:
    """The networks that both sides read and write: all examples, those of the page on boxes, and the demo."""
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        yield path.stem, load(path, as_written=True)
    page = (ROOT / "docs" / "boxes.md").read_text()
    seen: set[str] = set()
    for text in _YAML.findall(page):
        network = loads(text, ".yaml")
        if network.name not in seen:
            seen.add(network.name)
            yield f"box-{network.name}", network
    yield "demo", demo_network()
    yield "shown-demo", shown_demo()


def shown_demo() -> Network:
    """The demo network of the first run: with short periods, graphs, and a connection point for queries."""
    beacons = Beacons(window="1 min", calls=8, deviation=0.2)
    return watched(demo_network(40, 12, sources=2, period="10 s", slack="2 s", beacons=beacons))


def golden(network: Network) -> dict[str, Any]:
    """A network as the tests of both sides have it: its document, and the schemas of its streams."""
    outputs = {name: node.box.outputs for name, node in network.boxes.items()}
    return {"document": to_json(network), "outputs": outputs}


def generated() -> Iterator[tuple[Path, str]]:
    """Every file that is made from the algebra, with what it should hold."""
    yield MADE / "catalogue.json", _text(catalogue())
    yield MADE / "manual.json", _text(manual())
    yield MADE / "demo.json", _text(to_json(shown_demo()))
    for name, network in networks():
        yield GOLDEN / f"{name}.json", _text(golden(network))


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def out_of_date() -> list[tuple[Path, str]]:
    """The generated files that do not hold what they should."""
    return [(path, text) for path, text in generated() if not path.exists() or path.read_text() != text]


if __name__ == "__main__":
    stale = out_of_date()
    for path, text in stale:
        print(f"{'out of date' if '--check' in sys.argv else 'written'}: {path.relative_to(ROOT)}")
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    sys.exit(bool(stale) and "--check" in sys.argv)
