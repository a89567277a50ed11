"""Values as JSON has them: what it cannot represent is a text."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any


def plain(value: Any) -> Any:
    """A value of dictionaries, lists, texts and finite numbers.

    >>> plain({"a": float("nan"), 1: (Decimal("1.10"), b"x", datetime(2026, 1, 1, tzinfo=UTC))})
    {'a': 'NaN', '1': ['1.10', 'eA==', '2026-01-01T00:00:00Z']}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else _NUMBERS[str(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Decimal):
        return str(value)
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


_NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def moment(microseconds: int | None) -> datetime | None:
    """A time of the log as a datetime."""
    return None if microseconds is None else datetime.fromtimestamp(microseconds / 1e6, UTC)
