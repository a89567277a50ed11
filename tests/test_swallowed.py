"""No error is swallowed: each is raised, logged or passed on, or a comment says why it is not an error."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import australis

HOUSE = Path(australis.__file__).parent
NO_ERRORS = {"KeyboardInterrupt"}
"""Wishes of users."""
BROAD = {"Exception", "BaseException", ""}
"""What may be any error: a comment cannot give a reason for it."""
LOGS = re.compile(r"\b(_log|logger)\.\w+\(|traceback\.print_exc\(")


def swallowed(text: str) -> Iterator[str]:
    """The handlers of a module that hide an error, by line."""
    comments = {token.start[0] for token in _tokens(text) if token.type == tokenize.COMMENT}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if not (_is_passed_on(node, text) or _is_explained(_caught(node.type), lines, comments)):
                yield f"{node.lineno}: except {', '.join(_caught(node.type))}"
        elif isinstance(node, ast.With):
            lines = range(node.lineno - 1, node.body[0].lineno)
            for kinds in filter(None, (_suppressed(item.context_expr) for item in node.items)):
                if not _is_explained(kinds, lines, comments):
                    yield f"{node.lineno}: suppress {', '.join(kinds)}"


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text).readline)


def _is_passed_on(handler: ast.ExceptHandler, text: str) -> bool:
    """Whether a handler raises, logs, or does something with the error."""
    inside = [each for statement in handler.body for each in ast.walk(statement)]
    if any(isinstance(each, ast.Raise) for each in inside):
        return True
    if any(isinstance(each, ast.Name) and each.id == handler.name for each in inside):
        return True
    return any(LOGS.search(ast.get_source_segment(text, statement) or "") for statement in handler.body)


def _is_explained(kinds: list[str], lines: range, comments: set[int]) -> bool:
    if set(kinds) <= NO_ERRORS:
        return True
    return not BROAD & set(kinds) and bool(comments & set(lines))


def _caught(kind: ast.expr | None) -> list[str]:
    if kind is None:
        return [""]
    return [ast.unparse(each) for each in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]


def _suppressed(call: ast.expr) -> list[str]:
    if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] == "suppress":
        return [ast.unparse(each) for each in call.args]
    return []


@pytest.mark.parametrize("room", sorted(path.name for path in HOUSE.iterdir() if path.name != "__pycache__"))
def test_no_error_is_swallowed(room: str) -> None:
    paths = [HOUSE / room] if room.endswith(".py") else sorted((HOUSE / room).rglob("*.py"))
    found = [f"{path.relative_to(HOUSE)}:{each}" for path in paths for each in swallowed(path.read_text())]
    assert not found, "raise it, log it, pass it on, or say in a comment why it is no error"


HANDLER = "try:\n    work()\nexcept {}\n"
SWALLOWED = [
    HANDLER.format("ValueError:\n    pass"),
    HANDLER.format("ValueError as error:\n    found = None"),
    HANDLER.format("Exception:\n    # It does not matter.\n    pass"),
    HANDLER.format(":\n    # It does not matter.\n    pass").replace(" :", ":"),
    HANDLER.format("(KeyboardInterrupt, OSError):\n    pass"),
    "with suppress(OSError):\n    work()",
    "# It does not matter.\nwith contextlib.suppress(Exception):\n    work()",
]
KEPT = [
    HANDLER.format("ValueError:\n    raise"),
    HANDLER.format("ValueError as error:\n    errors.append(error)"),
    HANDLER.format("Exception:\n    _log.warning('it failed', exc_info=True)"),
    HANDLER.format("ValueError:\n    # No number: the caller reports the row.\n    pass"),
    HANDLER.format("ValueError:\n    pass  # no number"),
    HANDLER.format("KeyboardInterrupt:\n    pass"),
    "# It is gone already.\nwith suppress(OSError):\n    work()",
    "with open(path):\n    work()",
]


@pytest.mark.parametrize("text", SWALLOWED)
def test_what_vanishes_is_found(text: str) -> None:
    assert len(list(swallowed(text))) == 1


@pytest.mark.parametrize("text", KEPT)
def test_what_is_passed_on_is_not(text: str) -> None:
    assert list(swallowed(text)) == []
