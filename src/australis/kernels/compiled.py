"""Loops compiled by numba, which is loaded when the first of them is called.

Numba takes half a second to load, and many processes that import a kernel never run one: a driver, whose
workers do, or a command that only checks a network.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any


class CompiledLoop:
    """A function that is compiled when it is first called, by Python or by another loop.

    >>> add = CompiledLoop(lambda x, y: x + y, cache=False)
    >>> add(1, 2)
    3
    """

    def __init__(self, function: Callable[..., Any], **options: bool) -> None:
        self._function, self._options = function, options
        update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        return self.dispatcher(*args)

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's dispatcher for the function."""
        return importlib.import_module("numba").njit(self._function, **self._options)

    @property
    def _numba_type_(self) -> Any:
        """Numba's hook by which another compiled loop can call this one."""
        return self.dispatcher._numba_type_


def njit(*, nogil: bool = False, inline: bool = False) -> Callable[[Callable[..., Any]], CompiledLoop]:
    """Let numba compile a function, and cache the result for the next process.

    One that is called for every few bytes is put `inline`: an array in a call costs as much as some bytes.
    """
    options = {"forceinline": True} if inline else {}
    return lambda function: CompiledLoop(function, cache=True, nogil=nogil, **options)
