"""A call that is written once, and is a plain method of `Client` and a coroutine of `AsyncClient`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from australis.client.wire import Steps

if TYPE_CHECKING:
    from australis.client.async_client import AsyncClient
    from australis.client.client import Client

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Operation(Generic[Given, Result]):
    """A method whose steps are run by the client that it is called on."""

    def __init__(self, function: Callable[Concatenate[Any, Given], Steps[Result]]) -> None:
        self._function = function
        self.__doc__, self.__name__ = function.__doc__, getattr(function, "__name__", "")

    @overload
    def __get__(self, instance: None, owner: type) -> Operation[Given, Result]: ...

    @overload
    def __get__(self, instance: Client, owner: type) -> Callable[Given, Result]: ...

    @overload
    def __get__(self, instance: AsyncClient, owner: type) -> Callable[Given, Coroutine[Any, Any, Result]]: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self

        def call(*args: Given.args, **given: Given.kwargs) -> Any:
            return instance.run(self._function(instance, *args, **given))

        return update_wrapper(call, self._function)


def operation(function: Callable[Concatenate[Any, Given], Steps[Result]]) -> Operation[Given, Result]:
    """Make the steps of a call a method of both clients."""
    return Operation(function)
