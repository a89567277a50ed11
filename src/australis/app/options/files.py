"""The files that the options of a run name, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from pathlib import Path

import click

from australis.algebra.network import Network
from australis.engine.files import STANDARD_STREAM
from australis.engine.sinks import is_file as is_file_sink
from australis.engine.sources import is_file as is_file_source


def named_files(options: tuple[str, ...], known: list[str], kind: str) -> dict[str, str]:
    """The files of NAME=FILE options by name."""
    files: dict[str, str] = {}
    for option in options:
        name, equals, path = option.partition("=")
        if not equals or not path:
            raise click.UsageError(f"--{kind} {option}: expected NAME=FILE")
        if name not in known:
            raise click.UsageError(
                f"--{kind} {option}: there is no {kind} {name!r}; there is {', '.join(known)}"
            )
        if name in files:
            raise click.UsageError(f"--{kind} {name} is given twice: {files[name]} and {path}")
        files[name] = path
    return files


def check_files(
    network: Network, sources: Mapping[str, str], targets: Mapping[str, str], as_json: bool
) -> None:
    """Refuse inputs without a file, and files that are used for two things."""
    stored = [name for name, given in network.inputs.items() if given.store is not None]
    if twice := [name for name in stored if name in sources]:
        raise click.UsageError(f"{twice[0]} is read from its store: leave out --input {twice[0]}")
    missing = [name for name in network.inputs if name not in sources and name not in stored]
    if missing:
        files = " ".join(f"--input {name}=FILE" for name in missing)
        raise click.UsageError(f"no file for {', '.join(missing)}: add {files}")
    _check_streams(list(sources.values()))
    _check_outputs(list(targets.values()))
    for source, target in product(sources.values(), targets.values()):
        if _same_file(source, target):
            raise click.UsageError(f"{target} is an input and cannot be an output, too")
    if as_json and STANDARD_STREAM in targets.values():
        raise click.UsageError("--json prints to standard output, so no --output can be '-'")


def check_inputs(network: Network, sources: Mapping[str, str], *, is_resumable: bool) -> None:
    """Refuse files and folders that are not there; a root may hold a stored table already."""
    for name, path in sources.items():
        may_be_held = is_resumable and network.inputs[name].table
        if path == STANDARD_STREAM or not is_file_source(path) or may_be_held or Path(path).exists():
            continue
        what = "file" if Path(path).suffix and not path.endswith("/") else "folder"
        raise click.UsageError(f"--input {name}={path}: there is no such {what}")


def _check_streams(paths: list[str]) -> None:
    """A file can be read for several inputs, but a stream only once."""
    for first, second in combinations(paths, 2):
        if first == second and _is_stream(first):
            raise click.UsageError(f"{second} stands for more than one input")


def _is_stream(path: str) -> bool:
    file = Path(path)
    return path == STANDARD_STREAM or (file.exists() and not file.is_file() and not file.is_dir())


def _check_outputs(paths: list[str]) -> None:
    for first, second in combinations(paths, 2):
        if first == second or _same_file(first, second):
            raise click.UsageError(f"{second} stands for more than one output")


def _same_file(first: str, second: str) -> bool:
    """Whether two names lead to the same file, by any spelling or link; streams and devices are not files."""
    if STANDARD_STREAM in (first, second) or not (is_file_sink(first) and is_file_sink(second)):
        return False
    one, other = Path(first).resolve(), Path(second).resolve()
    if one.is_file() and other.is_file():
        return one.samefile(other)
    return one == other and not one.exists()
