"""Regenerate what the documentation shows: outputs and pictures of its examples, and the JSON Schema.

`python scripts/docs.py` writes; with `--check` it only says what is out of date, and exits 1 if anything is.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner

from australis.algebra.form.form import schema_text
from australis.app.cli import main
from australis.service.access import Access
from australis.service.fanout import Fanout
from australis.service.host import Host
from australis.service.http import create_app, openapi_text
from australis.service.settings import ServiceSettings, default_text, settings_schema

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
_FENCE = re.compile(r"```(?P<info>[^\n]*)\n(?P<body>.*?)```", re.DOTALL)
_CSV = re.compile(r"csv (?P<way>in|out)=(?P<name>\w+)(?P<end> at the end)?")


@dataclass
class Example:
    """A network in a page, the inputs that it is given, and the places where its outputs are shown."""

    network: str
    inputs: dict[str, str] = field(default_factory=dict)
    shown: list[tuple[str, bool]] = field(default_factory=list)


def examples(page: str) -> list[Example]:
    """The examples of a page, in their order."""
    found: list[Example] = []
    for fence in _FENCE.finditer(page):
        if fence["info"] == "yaml" and fence["body"].startswith("australis:"):
            found.append(Example(fence["body"]))
        elif csv := _CSV.fullmatch(fence["info"]):
            if csv["way"] == "in":
                found[-1].inputs[csv["name"]] = fence["body"]
            else:
                found[-1].shown.append((csv["name"], bool(csv["end"])))
    return found


def outputs(example: Example, engine: str) -> dict[tuple[str, bool], str]:
    """What an example really emits: for each output what the stream decided, and what its end adds."""
    decided, flushed = _run(example, engine, flush=False), _run(example, engine, flush=True)
    shown = {}
    for name, text in decided.items():
        header, rows = _rows(text)
        shown[name, False] = text
        shown[name, True] = header + "".join(_rows(flushed[name])[1][len(rows) :])
    return shown


def _rows(text: str) -> tuple[str, list[str]]:
    header, *rows = text.splitlines(keepends=True)
    return header, rows


def _run(example: Example, engine: str, *, flush: bool) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        (directory / "network.yaml").write_text(example.network)
        names = sorted({name for name, _ in example.shown})
        arguments = [
            "run",
            str(directory / "network.yaml"),
            "--engine",
            engine,
            *(["--flush"] if flush else []),
        ]
        for name, rows in example.inputs.items():
            (directory / f"{name}.csv").write_text(rows)
            arguments += ["--input", f"{name}={directory / name}.csv"]
        for name in names:
            arguments += ["--output", f"{name}={directory / name}.out.csv"]
        result = CliRunner().invoke(main, arguments)
        if result.exit_code:
            raise SystemExit(f"{' '.join(arguments)}\n{result.output}")
        return {name: (directory / f"{name}.out.csv").read_text() for name in names}


def with_outputs(page: str) -> str:
    """A page with the outputs of its examples regenerated."""
    fresh = iter([outputs(e, "reference")[place] for e in examples(page) for place in e.shown])

    def renew(fence: re.Match[str]) -> str:
        csv = _CSV.fullmatch(fence["info"])
        return f"```{fence['info']}\n{next(fresh)}```" if csv and csv["way"] == "out" else fence[0]

    return _FENCE.sub(renew, page)


def generated() -> Iterator[tuple[Path, str]]:
    """Every file that is made from the code, with what it should hold."""
    yield DOCS / "network.schema.json", schema_text()
    yield DOCS / "settings.schema.json", settings_schema()
    yield DOCS / "australis.yaml", default_text()
    yield DOCS / "openapi.json", api_text()
    for page in sorted(DOCS.glob("*.md")):
        yield page, with_outputs(page.read_text())
    for network in sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".yaml", ".json", ".py")):
        yield EXAMPLES / network.stem / "picture.svg", picture(network)


def api_text() -> str:
    """The OpenAPI document of the service; nothing is started for it."""
    settings = ServiceSettings()
    fanout = Fanout(lambda: None, settings.outputs)
    return openapi_text(create_app(Host(settings.node), Access(settings), settings, fanout))


def picture(network: Path) -> str:
    """The picture of an example's network."""
    argument = f"{network}:network" if network.suffix == ".py" else str(network)
    result = CliRunner().invoke(main, ["explain", argument, "--format=svg"])
    if result.exit_code:
        raise SystemExit(f"{network}\n{result.output}")
    return result.stdout


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
