"""Problems: what a message shows of the text that it is about."""

from __future__ import annotations

from australis.errors import Problem


def test_a_long_line_is_cut_around_the_position() -> None:
    text = "a" * 5_000 + "?" + "b" * 5_000
    _, line, sign = str(Problem("", "bad", text=text, position=5_000)).split("\n")
    assert line == "    ..." + "a" * 50 + "?" + "b" * 49 + "..."
    assert line[sign.index("^")] == "?"


def test_a_long_line_is_cut_at_both_ends() -> None:
    text = "a" * 200
    assert str(Problem("", "bad", text=text, position=0)).split("\n")[1:] == [
        "    " + "a" * 100 + "...",
        "    ^",
    ]
    assert str(Problem("", "bad", text=text, position=200)).split("\n")[1:] == [
        "    ..." + "a" * 50,
        "       " + " " * 50 + "^",
    ]


def test_tabs_stay_before_the_sign() -> None:
    assert str(Problem("", "bad", text="x\n\ta\t? 1", position=5)).endswith("\n    \ta\t? 1\n    \t \t^")
