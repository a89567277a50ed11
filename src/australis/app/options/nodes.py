"""The options of a run that only a node understands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from australis.algebra.network import Network
from australis.algebra.schema import Schema
from australis.algebra.spans import microseconds
from australis.app.options.rates import RATE_METAVAR, rate_texts
from australis.engine import LIGHT, MASTER, SPARK, WORKER_WAIT, WORKER_WAIT_S, light_tasks
from australis.engine.files import STANDARD_STREAM
from australis.engine.sinks import PartLimits, Sink, parse_sink
from australis.engine.sinks import is_file as is_file_sink
from australis.engine.sources import (
    AS_IT_IS,
    Options,
    Source,
    check_ends,
    parse_replay,
    parse_source,
)
from australis.engine.sources import is_file as is_file_source
from australis.errors import AlgebraError, EngineError

Command = TypeVar("Command", bound=Callable[..., Any])

DISCIPLINES = ("superbox", "branch", "train", "box")
SCHEDULES = ("state", "feedback", "round-robin", "fifo", "longest-queue", "deadline")
WAYS = ("fused", "spark")
PART_SIZE, PART_EVERY = "128MB", "30 s"
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)B?", re.IGNORECASE)


class Size(click.ParamType[int]):
    """A number of bytes, with K, M, G or T for thousands, and so on.

    >>> Size().convert("1.5GB", None, None)
    1500000000
    """

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = _SIZE.fullmatch(str(value).strip())
        if found is None or not float(found[1]):
            self.fail(f"{value!r} is no size: try 500MB or 2GB", param, ctx)
        thousands = " KMGT".index(found[2].upper() or " ")
        return round(float(found[1]) * 1000.0**thousands)


class Duration(click.ParamType[str]):
    """A length of time.

    >>> Duration().convert("5 min", None, None)
    '5 min'
    """

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            microseconds(str(value))
        except AlgebraError:
            # The message says what to write instead.
            self.fail(f"{value!r} is not a length of time: try '30 s' or '5 min'", param, ctx)
        return str(value)


class ListenAddress(click.ParamType[str]):
    """A port to listen on, on this machine's own address or that of a named host."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        _, _, port = str(value).rpartition(":")
        if not (port.isascii() and port.isdecimal() and int(port) < 65536):
            self.fail(f"{value!r} is no port: try 9464 or 0.0.0.0:9464", param, ctx)
        return str(value)


def host_and_port(address: str) -> tuple[str, int]:
    """What a checked address names.

    >>> host_and_port("9464"), host_and_port("[::1]:9464")
    (('127.0.0.1', 9464), ('::1', 9464))
    """
    host, _, port = address.rpartition(":")
    return host.strip("[]") or "127.0.0.1", int(port)


class RunnerName(click.ParamType[str]):
    """The name of a runner, possibly with the number of tasks of a light one."""

    name = "runner"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value != SPARK:
            try:
                light_tasks(str(value))
            except EngineError:
                # The message says what to write instead.
                self.fail(f"{value!r} is no runner: try {SPARK}, {LIGHT} or {LIGHT}[4]", param, ctx)
        return str(value)


_OPTIONS = (
    click.option(
        "--root",
        metavar="DIR",
        help="Keep queues, state and positions there: the next run with the same root resumes.",
    ),
    click.option(
        "--catalog", metavar="DIR", help="A local folder for the catalogue of a root that is a URI."
    ),
    click.option(
        "--runner",
        type=RunnerName(),
        metavar="RUNNER",
        default=SPARK,
        show_default=True,
        help="What runs the trains: spark, or light, processes of this machine without a JVM; light[4] for "
        "four at a time.",
    ),
    click.option("--master", default=MASTER, show_default=True, help="The Spark to run on."),
    click.option(
        "--worker-wait",
        type=click.FloatRange(min=0, min_open=True),
        default=WORKER_WAIT_S,
        show_default=True,
        metavar="SECONDS",
        help="How long to wait for the first worker of a cluster.",
    ),
    click.option(
        "--discipline",
        type=click.Choice(DISCIPLINES),
        help="What one step runs: connected boxes, those that lead to the same outputs, one box, or one over "
        "a few tuples. Default: superbox; branch where outputs have graphs.",
    ),
    click.option(
        "--schedule",
        type=click.Choice(SCHEDULES),
        help="What runs next. Default: state where outputs have delay graphs, else round-robin.",
    ),
    click.option(
        "--shed/--no-shed",
        default=None,
        help="Under overload, shed tuples as the loss and value graphs of outputs allow, or never. Default: "
        "--shed where an input is a stream (--follow, --rate, --speed, a pipe, an endless generator); files "
        "and folders that are read to their end are never shed.",
    ),
    click.option(
        "--headroom",
        type=click.FloatRange(0, 1, min_open=True),
        default=1.0,
        show_default=True,
        help="The part of the workers' time that may be used in steady state.",
    ),
    click.option(
        "--fairness",
        type=click.FloatRange(0, 1),
        default=0.0,
        show_default=True,
        help="How much it counts when tuples are shed that outputs are served alike, whatever their weights: "
        "0 for the highest total utility, 1 for the highest of the one that has least.",
    ),
    click.option(
        "--optimise/--no-optimise",
        default=False,
        show_default=True,
        help="Rewrite the network by what is measured while it runs.",
    ),
    click.option(
        "--disk", type=Size(), metavar="SIZE", help="Hold inputs back while queues take more than that: 2GB."
    ),
    click.option(
        "--metrics",
        type=ListenAddress(),
        metavar="[HOST:]PORT",
        help="Serve metrics for Prometheus, at http://127.0.0.1:PORT/metrics or on another HOST; 0 is any "
        "free port.",
    ),
    click.option(
        "--control/--no-control",
        default=True,
        show_default=True,
        help="With --root: let deploy, query and detach of this user reach the run.",
    ),
    click.option(
        "--way",
        type=click.Choice(WAYS),
        default=WAYS[0],
        show_default=True,
        help="Leading filters and maps: in the task that reads the tuples, or as Spark expressions.",
    ),
    click.option(
        "--partitions",
        type=click.IntRange(min=1),
        default=2,
        show_default=True,
        help="In how many parts state by keys is kept.",
    ),
    click.option(
        "--train",
        type=click.IntRange(min=1),
        default=2_000_000,
        show_default=True,
        help="The most tuples of a train.",
    ),
    click.option(
        "--train-limit",
        type=Duration(),
        metavar="TIME",
        help="End a train that takes longer, try it with fewer tuples, and send a tuple that takes too long "
        "by itself to the quarantine: '5 min'. Default: no limit.",
    ),
    click.option(
        "--part-size",
        type=Size(),
        metavar="SIZE",
        default=PART_SIZE,
        show_default=True,
        help="With --root: about how large the files of a Parquet output are.",
    ),
    click.option(
        "--part-every",
        type=Duration(),
        metavar="TIME",
        default=PART_EVERY,
        show_default=True,
        help="With --root: how long a tuple of a Parquet output may wait until a file is that large.",
    ),
    click.option(
        "--follow", is_flag=True, help="Keep reading what is appended to files and added to folders."
    ),
    click.option(
        "--rate",
        multiple=True,
        metavar=RATE_METAVAR,
        help="Replay every input, or the one that is named, at so many tuples a second: 5000/s. Repeatable.",
    ),
    click.option(
        "--speed", metavar="Nx", help="Replay every input as fast as its times go by, N times faster: 20x."
    ),
    click.option(
        "--by", metavar="ATTRIBUTE", help="The time for --speed. Default: the input's only timestamp."
    ),
)


def node_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class NodeOptions:
    """The values of the options."""

    root: str | None
    catalog: str | None
    runner: str
    master: str
    worker_wait: float
    discipline: str | None
    schedule: str | None
    shed: bool | None
    headroom: float
    fairness: float
    optimise: bool
    disk: int | None
    metrics: str | None
    control: bool
    way: str
    partitions: int
    train: int
    train_limit: str | None
    part_size: int
    part_every: str
    follow: bool
    rate: tuple[str, ...]
    speed: str | None
    by: str | None

    @classmethod
    def take(cls, values: dict[str, Any]) -> NodeOptions:
        """Take the options out of a command's."""
        return cls(**{field.name: values.pop(field.name) for field in fields(cls)})

    @property
    def is_on_spark(self) -> bool:
        return self.runner == SPARK

    @property
    def spark_options(self) -> dict[str, str]:
        """The Spark options that follow from ours."""
        return {WORKER_WAIT: str(self.worker_wait)}

    @property
    def engine(self) -> str:
        """The name of the engine in a summary."""
        return SPARK if self.is_on_spark else LIGHT

    def sink(self, network: Network, name: str, path: str, stream_format: str) -> Sink:
        """The sink of an output that grows during a run."""
        limits = PartLimits(self.part_size, microseconds(self.part_every) / 1e6)
        return parse_sink(name, path, network.output_schema(name), stream_format=stream_format, limits=limits)

    def check(self, ctx: click.Context, targets: Iterable[str]) -> None:
        """Refuse what only Spark understands, an unknown runner, and limits of parts that nobody writes."""
        if self.root is None or not any(path.endswith(".parquet") for path in targets):
            for name in ("part_size", "part_every"):
                if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                    option = name.replace("_", "-")
                    raise click.UsageError(f"--{option} is for --output NAME=FOLDER.parquet with --root DIR")
        if self.root is None:
            for path in (path for path in targets if not is_file_sink(path)):
                what = f"--output {path} needs a node that remembers what it has written"
                raise click.UsageError(f"{what}: add --root DIR")
        if self.is_on_spark:
            return
        for name, is_for_spark in (("engine", True), ("master", True), ("way", self.way == SPARK)):
            if is_for_spark and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                what = f"--{name} {ctx.params[name]} is for --runner {SPARK}"
                raise click.UsageError(f"{what}, not for {self.runner}: leave one of them out")

    def _time_of(self, name: str, schema: Schema) -> str | None:
        """The attribute by which an input is replayed: the given one, or its only timestamp."""
        found = [field.name for field in schema if field.type.name == "timestamp"]
        if self.by is None and self.speed is not None and len(found) != 1:
            known = ", ".join(found) or "none"
            what = f"the input {name} has not one timestamp, but {known}"
            raise click.UsageError(f"--speed {self.speed}: {what}: add --by ATTRIBUTE")
        return self.by or (found[0] if found else None)

    def source(self, network: Network, name: str, text: str, options: Options) -> Source:
        """The source of an input; an invalid text is a usage error."""
        schema, rate = network.inputs[name].arriving, rate_texts(network, self.rate).get(name)
        try:
            replay = parse_replay(rate, self.speed, self._time_of(name, schema))
            follow = self.follow and text != STANDARD_STREAM
            return parse_source(name, text, schema, replace(options, follow=follow, replay=replay))
        except EngineError as error:
            raise click.UsageError(f"--input {name}={text}: {error}") from None


def refuse_elsewhere(
    ctx: click.Context,
    engine: str,
    network: Network,
    sources: Mapping[str, str],
    targets: Mapping[str, str],
) -> None:
    """Refuse options that the chosen engine does not have, and what it cannot read or write."""
    for field in fields(NodeOptions):
        if ctx.get_parameter_source(field.name) is ParameterSource.COMMANDLINE:
            option = field.name.replace("_", "-")
            raise click.UsageError(f"--{option} is for --engine spark, not for {engine}")
    for name, text in sources.items():
        if not is_file_source(text):
            try:
                check_ends(parse_source(name, text, network.inputs[name].arriving, AS_IT_IS), text)
            except EngineError as error:
                hint = f"or leave out --engine {engine}"
                raise click.UsageError(f"--input {name}={error}, {hint}") from None
    for name, text in targets.items():
        if not is_file_sink(text):
            what = f"--output {name}={text} needs a node that remembers what it has written"
            raise click.UsageError(f"{what}: leave out --engine {engine}, and add --root DIR")
