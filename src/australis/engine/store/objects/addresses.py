"""Addresses of object stores, and one connection pool of a process for each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pyarrow as pa

from australis.engine.store.objects.object_disk import ObjectDisk
from australis.engine.store.uris import refuse_keys
from australis.errors import EngineError, Problem

RETRIES_FOR = timedelta(seconds=60)
"""How long a request is repeated while the store does not answer, or answers that it is busy."""
_OPTIONS = frozenset(("region", "scheme", "endpoint_override"))


def object_disk(uri: str) -> ObjectDisk:
    """The disk at an address of S3; a process has one connection pool for each address."""
    return _disk_of(uri, os.getpid())


def open_object(uri: str) -> pa.NativeFile:
    """Open an object by its own address."""
    place, mark, options = uri.partition("?")
    folder, _, name = place.rpartition("/")
    return object_disk(f"{folder}{mark}{options}").open(unquote(name))


@lru_cache(maxsize=32)
def _disk_of(uri: str, process: int) -> ObjectDisk:
    """The disk of a process: a fork must not share connections."""
    from obstore.store import S3Store  # noqa: PLC0415

    parts, options = urlsplit(refuse_keys(uri)), parse_qs(urlsplit(uri).query)
    unknown = sorted(options.keys() - _OPTIONS)
    if unknown:
        what = f"has the unknown option {unknown[0]!r}"
        raise EngineError(Problem(uri, what, f"some of {', '.join(sorted(_OPTIONS))}"))
    given: dict[str, Any] = {}
    if "region" in options:
        given["region"] = options["region"][0]
    endpoint = _endpoint(options)
    if endpoint is not None:
        given["endpoint"] = endpoint
    store = S3Store(
        parts.netloc,
        prefix=unquote(parts.path).strip("/") or None,
        retry_config={"retry_timeout": RETRIES_FOR},
        client_options={"allow_http": (endpoint or "").startswith("http://")},
        **given,
    )
    return ObjectDisk(store)


def _endpoint(options: Mapping[str, list[str]]) -> str | None:
    """Where the server is; None for that of the region.

    >>> _endpoint({"endpoint_override": ["localhost:9000"], "scheme": ["http"]})
    'http://localhost:9000'
    """
    found = options.get("endpoint_override", [""])[0]
    found = found or os.environ.get("AWS_ENDPOINT_URL_S3", "") or os.environ.get("AWS_ENDPOINT_URL", "")
    scheme = options.get("scheme", ["https"])[0]
    return found if "://" in found or not found else f"{scheme}://{found}"
