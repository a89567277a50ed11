"""The arguments of `australis check --rate`, checked before anything is measured."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from australis.algebra.network import Network
from australis.app.options import named_files, rate_texts
from australis.engine.sources import parse_rate
from australis.errors import EngineError
from australis.policy.analysis import Cost, Costs

EXPECTED = '{"boxes": {BOX: {"tuple_us": NUMBER, "selectivity": [NUMBER, ...]}}, ...}'


def input_rates(network: Network, texts: tuple[str, ...]) -> dict[str, float]:
    """The rate of every input in tuples per second, from [NAME=]RATE options."""
    found: dict[str, float] = {}
    for name, rate in rate_texts(network, texts).items():
        try:
            found[name] = parse_rate(rate)
        except EngineError as error:
            raise click.UsageError(f"--rate {rate}: {error}") from None
    missing = [name for name, given in network.inputs.items() if not given.table and name not in found]
    if missing:
        more = " ".join(f"--rate {name}=1000/s" for name in missing)
        raise click.UsageError(f"no rate for {', '.join(missing)}: add, for example, {more}")
    return {name: found[name] for name in network.inputs if name in found}


def sample_files(network: Network, texts: tuple[str, ...]) -> dict[str, str]:
    """The files of inputs and stored tables, from NAME=FILE options."""
    for text in texts:
        if (name := text.partition("=")[0]) not in network.inputs:
            known = ", ".join(network.inputs)
            raise click.UsageError(f"--calibrate {text}: there is no input {name!r}; the inputs are {known}")
    return named_files(texts, list(network.inputs), "calibrate")


def machine_cores() -> float:
    """The cores that this process may use."""
    return float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def read_costs(path: Path, network: Network) -> Costs:
    """The costs in a file, as `australis check --json` prints them."""
    try:
        given = json.loads(path.read_text())
        costs = _costs(given.get("analysis", given).get("costs", given))
    except OSError as error:
        raise click.UsageError(f"--costs {path}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        what = f"is not a file of costs ({type(error).__name__}: {error})"
        raise click.UsageError(f"--costs {path}: {what}; expected {EXPECTED}") from None
    for box, node in network.boxes.items():
        _check_box(box, node.box.outputs, costs, path)
    return costs


def _check_box(box: str, ports: int, costs: Costs, path: Path) -> None:
    if box not in costs.boxes:
        raise click.UsageError(f"--costs {path}: has no box {box!r}; it has {', '.join(costs.boxes)}")
    if (given := len(costs.boxes[box].selectivity)) != ports:
        what = f"{box} has {ports} output ports, and {given} selectivities"
        raise click.UsageError(f"--costs {path}: {what}")


def _costs(given: Mapping[str, Any]) -> Costs:
    boxes = {
        box: Cost(_number(each["tuple_us"]), tuple(map(_number, each["selectivity"])))
        for box, each in given["boxes"].items()
    }
    inputs_us, outputs_us = (_numbers(given.get(part, {})) for part in ("inputs_us", "outputs_us"))
    train_us, node_us = (_number(given.get(part, 0)) for part in ("train_us", "node_us"))
    return Costs(boxes, inputs_us, outputs_us, train_us, node_us)


def _numbers(given: Mapping[str, Any]) -> dict[str, float]:
    return {name: _number(value) for name, value in given.items()}


def _number(value: Any) -> float:
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError(f"{value!r} is not a cost or a selectivity")
    return number
