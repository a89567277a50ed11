"""The OpenAPI document: what the framework derives from the routes, and what it cannot know."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from australis.service.http.gate import OPEN

_WITH_BODY = ("post", "put", "patch")
_TOO_LARGE = "too_large"


def describe(app: FastAPI) -> dict[str, Any]:
    """The document of an application."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        for path, calls in made["paths"].items():
            for method, call in calls.items():
                _complete(path, method, call)
        schemas = made["components"]["schemas"]
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        app.openapi_schema = made
    return app.openapi_schema


def _complete(path: str, method: str, call: dict[str, Any]) -> None:
    """Add what holds for all calls; the framework's errors have another shape than ours."""
    answers = call["responses"]
    if "HTTPValidationError" in json.dumps(answers.get("422", {})):
        del answers["422"]
    if path in OPEN:
        return
    call["security"] = [{"token": []}]
    if "{" in path:
        answers.setdefault("404", {**answers["400"], "description": "not_found"})
    if method in _WITH_BODY and "400" in answers:
        answers["413"] = {**answers["400"], "description": _TOO_LARGE}


def openapi_text(app: FastAPI) -> str:
    """The document as it is published; its version is that of the API, not of the program."""
    described = describe(app)
    return json.dumps({**described, "info": {**described["info"], "version": "1"}}, indent=2) + "\n"
