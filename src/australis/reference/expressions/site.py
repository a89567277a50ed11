"""What a function knows besides its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from australis.algebra.expr import Value
from australis.algebra.types import DataType


@dataclass(frozen=True)
class CallSite:
    """The type of the result, the types of the arguments, and the network's time zone."""

    type: DataType
    takes: tuple[DataType, ...] = ()
    timezone: str = "UTC"


Function = Callable[..., Value]
"""A function of a site and plain values."""

Number = Any
"""An int, a float or a Decimal, depending on the site's types."""
