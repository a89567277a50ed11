"""SVG elements as text: numbers, points, texts and tooltips, the same on every machine."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from australis.app.pictures.coordinates import Point

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow in any form, not even escaped (its section 2.2)."""


def opened(tooltip: str) -> str:
    """The beginning of a group of elements that share a tooltip."""
    return f"<g><title>{escaped(tooltip)}</title>"


def escaped(text: str) -> str:
    """A text escaped for XML."""
    return escape(_FORBIDDEN.sub("\ufffd", text))


def text_at(kind: str, x: float, y: float, text: str, anchor: str = "") -> str:
    """A text at a position; `kind` is its class."""
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{kind}" x="{digits(x)}" y="{digits(y)}"{anchored}>{escaped(text)}</text>'


def tag(name: str, kind: str = "", **attributes: str | float) -> str:
    """An empty element; `kind` is its class."""
    written = {"class": kind} if kind else {}
    for key, value in attributes.items():
        written[key] = digits(value) if isinstance(value, float) else value
    return f"<{name} {' '.join(f'{key}={quoteattr(value)}' for key, value in written.items())}/>"


def spot(point: Point) -> str:
    """The two numbers of a point."""
    return f"{digits(point[0])} {digits(point[1])}"


def digits(number: float) -> str:
    """A number with at most one decimal, written the same on every machine; never -0."""
    text = f"{number:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
