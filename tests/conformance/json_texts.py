"""Random JSON texts, many of them not quite JSON, and paths into them."""

from __future__ import annotations

from hypothesis import strategies as st

Text = st.SearchStrategy[str]
_NAMES = ("a", "b", "a b", "é", "😀", "")
_BLANKS = ("", "", "", " ", "\n", "\t\r")
_CHARACTERS = (
    *("a", "b", " ", "é", "😀", "\u2028", "\x01", "\t", "/", "{", "]", ",", "1"),
    *(r"\n", r"\t", r"\b", r"\f", r"\r", r"\"", r"\\", r"\/", r"\'", r"\u0061", r"\u0001", r"\u00e9"),
    *(r"\ud83d\ude00", r"\ud83d", r"\uDE00x", r"\ud83d\u0061", "\0", "\x7f", r"\u001F"),
)
_WORDS = ("true", "false", "null", "0", "-0", "7", "-12", "12345678901234567890", "9" * 40)
_FLOATS = (
    *("1.5", "-2.50", "0.1", "0.001", "0.00099", "0.0", "-0.0", "1e3", "1E-5", "1.0E+2", "9999999.0", "1e7"),
    *("12345678.9", "123456.789e3", "0e5", "1e400", "-1e400", "1e-400", "100.000", "0.10203", "52.5200066"),
    *("0.000", "1234567.12345678", "12345.678901234567", "3.14159265358979", "1e00", "0.0123000"),
)
"""Numbers whose digits all versions of Java write alike."""
_BROKEN = (
    "tru",
    "nullx",
    "01",
    "1.",
    ".5",
    "+1",
    "-",
    "1e",
    "NaN",
    '"a',
    "'a\"",
    r'"\q"',
    r'"\u12"',
    "",
    "[1",
    "{1:2}",
)


def _string(quote: str) -> Text:
    inner = st.lists(st.sampled_from(_CHARACTERS), max_size=4).map("".join)
    return inner.map(lambda text: f"{quote}{text}{quote}")


def _name() -> Text:
    written = st.sampled_from(_NAMES).map(lambda name: f'"{name}"')
    return written | written | st.sampled_from((r'"\u0061"', "'a'", "'b'", r'"\u00e9"', r'"\ud83d\ude00"'))


def documents() -> Text:
    """Texts that are JSON as Spark reads it."""
    blank = st.sampled_from(_BLANKS)
    scalar = st.one_of(_string('"'), _string("'"), st.sampled_from(_WORDS), st.sampled_from(_FLOATS))
    return st.recursive(
        scalar,
        lambda inner: st.one_of(
            st.lists(st.tuples(blank, inner, blank).map("".join), max_size=3).map(
                lambda parts: f"[{','.join(parts)}]"
            ),
            *[
                st.lists(
                    st.tuples(blank, _name(), blank, st.just(":"), blank, inner, blank).map("".join),
                    max_size=4,
                ).map(lambda parts: f"{{{','.join(parts)}}}")
            ]
            * 2,
        ),
        max_leaves=8,
    )


@st.composite
def texts(draw: st.DrawFn) -> str:
    """JSON, with something before, after or inside it that may not belong there."""
    text = draw(documents())
    match draw(st.integers(0, 9)):
        case 0:
            place = draw(st.integers(0, len(text)))
            return (
                text[:place]
                + draw(st.sampled_from((*_BROKEN, ",", "]", "}", ":", '"', "\\", "x")))
                + text[place:]
            )
        case 1:
            place = draw(st.integers(0, max(0, len(text) - 1)))
            return text[:place] + text[place + 1 :]
        case 2:
            return text + draw(st.sampled_from((" tail", "x", "}", ",", "\n", "$")))
        case 3:
            return draw(st.sampled_from(_BLANKS)) + draw(st.sampled_from(_BROKEN))
    return draw(st.sampled_from(_BLANKS)) + text


def paths() -> Text:
    """Paths by the names that documents have, and by indexes."""
    plain = st.sampled_from([f".{name}" for name in _NAMES if name])
    quoted = st.sampled_from([f"['{name}']" for name in _NAMES if name])
    index = st.sampled_from(("[0]", "[1]", "[2]"))
    steps = st.lists(plain | plain | quoted | index, max_size=3)
    return steps.map(lambda parts: "$" + "".join(parts))
