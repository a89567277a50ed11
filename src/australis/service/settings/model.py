"""The settings of the service, with their defaults and what each is for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from australis.plan.superboxes import Discipline
from australis.policy.schedule import Scheduling
from australis.service.settings.places import place_of


class _Section(BaseModel):
    """What all sections have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class NodeSection(_Section):
    """The node, as the options of `australis run` describe it."""

    root: str | None = None
    """The folder or URI below which the node keeps everything; a temporary folder if it is left out."""
    catalog: str | None = None
    """The folder of the catalogue of a root that is a URI."""
    runner: str = "spark"
    """What runs the trains: spark, light, or light[4] for four tasks at a time."""
    master: str | None = None
    """Where Spark runs; local[2] if it is left out."""
    partitions: Annotated[int, Field(ge=1)] = 2
    """The number of parts into which the state of a box is divided by its keys."""
    train: Annotated[int, Field(ge=1)] = 2_000_000
    """The most tuples that a train takes."""
    train_limit: str | None = None
    """How long a train may take, such as 5 min."""
    in_flight: Annotated[int, Field(ge=1)] = 2
    """How many trains may run at a time."""
    discipline: Discipline | None = None
    """How the network is cut into superboxes; chosen by the network if it is left out."""
    schedule: Scheduling | None = None
    """Which superbox runs next; chosen by the network if it is left out."""
    shed: bool = True
    """Whether tuples may be shed under overload, by the QoS graphs of outputs."""
    headroom: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The part of the workers' time that may be used in steady state."""
    fairness: Annotated[float, Field(ge=0, le=1)] = 0.0
    """How much it counts when tuples are shed that outputs are served alike, against the total utility."""
    optimise: bool = False
    """Whether the network is rewritten while it runs, by what was measured."""
    disk: Annotated[int, Field(ge=1)] | None = None
    """The bytes of segments at which ingest waits for space; no limit if left out."""
    way: Literal["fused", "spark"] = "fused"
    """How the leading boxes of a train run: in the Python task, or as Spark expressions."""
    spark: dict[str, str] = Field(default_factory=dict)
    """Options of Spark, by name."""


class FlightSettings(_Section):
    """Arrow Flight, for tuples in volume."""

    enabled: bool = True
    """Whether Flight is served."""
    listen: str | None = None
    """HOST:PORT; the port after that of HTTP if it is left out."""
    calls: Annotated[int, Field(ge=1)] = 128
    """How many pushes and streams may be under way at a time: each takes a thread."""
    patience_s: Annotated[float, Field(gt=0)] = 60.0
    """For how many seconds a client may take nothing of what is sent before its connection is ended."""


class OutputSettings(_Section):
    """What outputs keep for subscribers, so that they can resume; named consumers keep what they need."""

    keep_tuples: Annotated[int, Field(ge=1)] = 10_000_000
    """How many of the newest tuples of an output are kept."""
    keep_bytes: Annotated[int, Field(ge=1)] = 1 << 30
    """How many bytes on the disk they may take."""
    keep_s: Annotated[float, Field(gt=0)] = 24 * 3600.0
    """For how many seconds they are kept."""
    shared_bytes: Annotated[int, Field(ge=1)] = 32 << 20
    """How many bytes of an output are held in memory for its subscribers; slower ones read from the disk."""


class TlsSettings(_Section):
    """The certificate of HTTP and Flight; required wherever other machines can connect."""

    certificate: Path | None = None
    """A PEM file with the certificate, and those that lead to its authority."""
    key: Path | None = None
    """The PEM file of its private key."""


class LimitSettings(_Section):
    """What one caller, and all together, may ask for."""

    body_bytes: Annotated[int, Field(ge=1)] = 64 << 20
    """The largest body of a request."""
    calls: Annotated[int, Field(ge=1)] = 64
    """How many calls may be under way at a time, streams of outputs not counted."""
    rate: Annotated[float, Field(gt=0)] = 1_000.0
    """How many calls a token may make per second, for longer than a moment."""
    streams: Annotated[int, Field(ge=1)] = 1_000
    """How many streams of outputs may be open at a time."""
    drain_s: Annotated[float, Field(ge=0)] = 10.0
    """How many seconds calls that are under way have to end when the service stops."""


class AccessSettings(_Section):
    """Who may do what, and what a deployed network may name."""

    tokens: Path | None = None
    """The file of tokens, made by `australis token new`; without one everybody has the role `anonymous`."""
    anonymous: Literal["viewer", "operator", "owner"] | None = None
    """The role of callers without a token; owner if there is no file of tokens, else none."""
    host_names: list[str] = Field(default_factory=list)
    """Names by which clients may address the service, besides that of `listen` and those of loopback."""
    origins: list[str] = Field(default_factory=list)
    """Origins of web pages that may call, such as https://panel.example; the service's own is one."""
    roots: list[Path] = Field(default_factory=list)
    """Folders below which the stores of a deployed network may be files."""
    variables: list[str] = Field(default_factory=list)
    """Variables of the environment that stores may name, such as AUSTRALIS_CARS_PASSWORD."""
    hosts: list[str] = Field(default_factory=list)
    """HOST or HOST:PORT of databases that stores may name."""
    audit: Path | None = None
    """The file of the audit log; audit.jsonl beside the catalogue if it is left out."""
    audit_bytes: Annotated[int, Field(ge=1 << 10)] = 16 << 20
    """The size at which the audit log is continued in a new file."""
    audit_files: Annotated[int, Field(ge=1)] = 10
    """How many older files of the audit log are kept."""
    limits: LimitSettings = LimitSettings()
    """What one caller, and all together, may ask for."""


class LogSettings(_Section):
    """The log of the process."""

    form: Literal["text", "json"] = "text"
    """Lines of text, or one JSON object a line."""
    level: Literal["warning", "info", "debug"] = "info"
    """How much is logged; debug has every train."""
    file: Path | None = None
    """The file that the log is appended to; standard error if it is left out."""


class TracingSettings(_Section):
    """Traces of calls, pushes and trains by OpenTelemetry, which needs the extra `otel`."""

    endpoint: str | None = None
    """Where a collector takes OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces; none if left out."""
    share: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The part of traces that is kept; of those that a caller has begun, the caller decides."""
    service: str = "australis"
    """The name of this service in traces."""


class FeedSettings(_Section):
    """Sources and sinks that run with the node, by the name of an input or output."""

    inputs: dict[str, str] = Field(default_factory=dict)
    """A source for an input, such as a file, a folder or a URL."""
    outputs: dict[str, str] = Field(default_factory=dict)
    """A sink for an output."""


class ClusterSettings(_Section):
    """Other nodes: who this one is among them, where they are, and what is read from whom."""

    identity: Path | None = None
    """The folder of the node's identity, made by `australis identity`; without one it has no other nodes."""
    listen: str | None = None
    """HOST:PORT where other nodes connect; without it only this node dials, and knows no names."""
    address: str | None = None
    """HOST:PORT under which other nodes reach this one, if that is not where it listens."""
    seeds: list[str] = Field(default_factory=list)
    """HOST:PORT of some nodes, from which it learns of all others."""
    nodes: dict[str, str] = Field(default_factory=dict)
    """HOST:PORT of other nodes by name, such as lab/b: b.example:8402."""
    inputs: dict[str, str] = Field(default_factory=dict)
    """PARTICIPANT/NODE/OUTPUT or PARTICIPANT/OUTPUT for an input, as `from` in a network, and before it."""
    weights: dict[str, Annotated[float, Field(ge=0.001, le=1000)]] = Field(default_factory=dict)
    """The share of a full connection that an input has, in proportion to others; 1 if left out."""
    offers: dict[str, list[str]] = Field(default_factory=dict)
    """Which nodes of other participants may read an output: patterns of nodes by patterns of outputs."""
    place: bool = False
    """Whether boxes slide to others of its participant by themselves while it has too much to do."""
    place_after_s: Annotated[float, Field(ge=0, le=86_400)] = 10.0
    """How long a node has to have too much to do, and waits after a move, before boxes slide."""
    place_rest_s: Annotated[float, Field(ge=0, le=86_400)] = 60.0
    """How long a box that has moved stays where it is."""
    place_cores: Annotated[float, Field(ge=1e-6, le=10_000)] | None = None
    """The processor time per second that boxes may take here; as much as the node has workers if left out."""
    place_link_mb_s: Annotated[float, Field(ge=0.001, le=100_000)] = 100.0
    """The MB per second that may go to each neighbour."""
    place_journal: Path | None = None
    """A file for all that the placement hears and decides, which `australis simulate replay` repeats."""
    grants: list[Path] = Field(default_factory=list)
    """Files, or folders of them, by which other participants let this node put boxes behind their outputs."""


class ServiceSettings(_Section):
    """All settings of `australis serve`."""

    listen: str = "127.0.0.1:8400"
    """HOST:PORT of the HTTP API; port 0 is any that is free."""
    node: NodeSection = NodeSection()
    """The node, as the options of `australis run` describe it."""
    flight: FlightSettings = FlightSettings()
    """Arrow Flight, for tuples in volume."""
    outputs: OutputSettings = OutputSettings()
    """What outputs keep for subscribers, so that they can resume."""
    tls: TlsSettings = TlsSettings()
    """The certificate of HTTP and Flight; required wherever other machines can connect."""
    access: AccessSettings = AccessSettings()
    """Who may do what, and what a deployed network may name."""
    logs: LogSettings = LogSettings()
    """The log of the process."""
    tracing: TracingSettings = TracingSettings()
    """Traces of calls, pushes and trains by OpenTelemetry, which needs the extra `otel`."""
    feeds: FeedSettings = FeedSettings()
    """Sources and sinks that run with the node, by the name of an input or output."""
    cluster: ClusterSettings = ClusterSettings()
    """Other nodes: who this one is among them, where they are, and what is read from whom."""

    @property
    def place(self) -> tuple[str, int]:
        """The host and port of the HTTP API."""
        return place_of(self.listen, "listen")
