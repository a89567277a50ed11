"""Finds the network that an argument names: a JSON or YAML file, or a name in a Python file or module."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import click

from australis.algebra.builder import NetworkBuilder
from australis.algebra.form import SUFFIXES, load
from australis.algebra.network import Network
from australis.errors import AlgebraError, NetworkError, Problem

Command = TypeVar("Command", bound=Callable[..., Any])

_EXPECTED = f"a file that ends in {', '.join(SUFFIXES)}, or FILE.py:NAME, or MODULE:NAME"


def functions_option(command: Command) -> Command:
    """The option --functions."""
    return click.option(
        "--functions",
        "function_files",
        multiple=True,
        metavar="MODULE_OR_FILE",
        help="Python that registers functions which the network names; imported first. Repeatable.",
    )(command)


def network_arguments(command: Command) -> Command:
    """The argument NET and the option --functions, which all commands of a network have."""
    return click.argument("net", metavar="NET")(functions_option(command))


def find_network(
    net: str, function_files: Iterable[str] = (), *, as_written: bool = False, query: bool = False
) -> Network:
    """The network that NET names, after the Python that registers its functions.

    `as_written` leaves the paths of stores as they are in a file, for display. With `query` it is an ad hoc
    query, whose marks come with its connection points.
    """
    for name in function_files:
        import_python(name)
    if net.lower().endswith(SUFFIXES):
        if not Path(net).exists():
            raise NetworkError(Problem(net, "there is no such file"))
        return _load(net, as_written, query)
    place, _, name = net.rpartition(":")
    if not place:
        hint = f"; a name in it, such as {net}:network" if net.endswith(".py") else ""
        raise NetworkError(Problem(net, "is not a network file", _EXPECTED + hint))
    return _as_network(_attribute(import_python(place), name, place), net, query)


def _load(net: str, as_written: bool, query: bool) -> Network:
    """The network in a file; a problem without a place is reported for the whole file."""
    try:
        return load(net, as_written=as_written, query=query)
    except AlgebraError as error:
        raise _in_file(error, net) from None


def _in_file(error: AlgebraError, name: str) -> AlgebraError:
    """The error with the name of a file where it says no other place."""
    return type(error)(p if p.path else p.under(name) for p in error.problems)


def import_python(name: str) -> ModuleType:
    """Import a module, or a file by its path; errors in it are reported with its name."""
    try:
        return _import_file(Path(name)) if name.endswith(".py") else _import_module(name)
    except AlgebraError as error:
        raise _in_file(error, name) from None
    except FileNotFoundError as error:
        which = "" if error.filename == name else f": {error.filename}"
        raise NetworkError(Problem(name, f"there is no such file{which}")) from None
    except SystemExit as error:
        raise NetworkError(
            Problem(name, f"ended the program when imported: sys.exit({error.code!r})")
        ) from None
    except SyntaxError as error:
        raise NetworkError(Problem(name, f"is no Python: {error}")) from None
    except Exception as error:
        what = f"cannot be imported: {type(error).__name__}: {error}"
        raise NetworkError(Problem(name, what)) from error


def _import_module(name: str) -> ModuleType:
    """Import a module, also from this folder; last on the path, so that it shadows no other module."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    return importlib.import_module(name)


def _import_file(path: Path) -> ModuleType:
    """Import a file, with its neighbours importable, as `python FILE` has them.

    Its module gets a name of our own: the file may have the name of a module that others need.
    """
    if not path.exists():
        raise FileNotFoundError(2, "No such file", str(path))
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = f"australis_file_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _attribute(module: ModuleType, name: str, place: str) -> object:
    if not hasattr(module, name):
        found = [key for key, value in vars(module).items() if isinstance(value, Network | NetworkBuilder)]
        expected = (
            f"one of {', '.join(found)}" if found else "a Network, a builder, or a function that gives one"
        )
        raise NetworkError(Problem(place, f"has no {name!r}", expected))
    return getattr(module, name)


def _as_network(found: object, net: str, query: bool) -> Network:
    if callable(found):
        try:
            found = found()
        except AlgebraError:
            raise
        except SystemExit as error:
            raise NetworkError(Problem(net, f"ended the program: sys.exit({error.code!r})")) from None
        except Exception as error:
            raise NetworkError(Problem(net, f"failed: {type(error).__name__}: {error}")) from error
    if isinstance(found, NetworkBuilder):
        found = found.build(query=query)
    if not isinstance(found, Network):
        expected = "a Network, a builder, or a function that gives one"
        raise NetworkError(Problem(net, f"is a {type(found).__name__}", expected))
    return found
