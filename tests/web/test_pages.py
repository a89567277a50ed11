"""The editor's pages: with the built files and without, and what a browser may do with them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from australis.service.http.pages import page_routes


def get(folder: Path, path: str) -> httpx.Response:
    """What the pages of a folder answer."""
    application = Starlette(routes=page_routes(folder))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://node") as client:
            return await client.get(path)

    return asyncio.run(ask())


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Australis</title>")
    (tmp_path / "assets" / "index-1.js").write_text("1;")
    return tmp_path


def test_the_page_loads_nothing_from_elsewhere(built: Path) -> None:
    answer = get(built, "/")
    assert answer.status_code == 200
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-cache"


def test_files_with_a_hash_are_kept_by_browsers(built: Path) -> None:
    answer = get(built, "/assets/index-1.js")
    assert answer.headers["cache-control"].endswith("immutable")
    assert "javascript" in answer.headers["content-type"]


def test_what_is_not_there_is_not_found(built: Path) -> None:
    assert get(built, "/nothing").status_code == 404
    assert get(built, "/%2e%2e/pyproject.toml").status_code == 404


def test_without_the_files_the_page_says_how_to_build_them(tmp_path: Path) -> None:
    answer = get(tmp_path / "none", "/")
    assert answer.status_code == 200
    assert "make web" in answer.text
