"""A real Kafka broker for tests: a node in KRaft mode on free ports of the loopback, which may be killed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ROOT / "build" / "kafka" / "lib"
"""Where `make test-kafka` puts the broker's jars."""
_CLUSTER = "AustralisTestsKRaft001"
_START_S = 120.0


def missing() -> str | None:
    """Why no broker can be started here; None if one can."""
    if not any(LIBRARIES.glob("kafka_*.jar")):
        return "there is no Kafka broker in build/kafka: make test-kafka fetches one"
    return None if _java() else "there is no Java to run a Kafka broker"


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java")


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Broker:
    """A broker with its own folder and ports; it can be killed and started again with the same data."""

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, str] | None = None,
        *,
        protocol: str = "PLAINTEXT",
        client: Mapping[str, str] | None = None,
    ) -> None:
        self._folder, self._protocol = folder, protocol
        self.client = dict(client or {})
        """What clients need to be let in."""
        self.port, self._controller = free_port(), free_port()
        self.servers = f"127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._config = folder / "server.properties"
        lines = {**self._basics(), **(settings or {})}
        self._config.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        self._run("kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(self._config))

    def _basics(self) -> dict[str, str]:
        protocol = self._protocol
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{self._controller}",
            "listeners": f"{protocol}://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self._controller}",
            "advertised.listeners": f"{protocol}://127.0.0.1:{self.port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": f"{protocol}:{protocol},CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": protocol,
            "log.dirs": str(self._folder / "data"),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "2",
            "auto.create.topics.enable": "false",
            "group.initial.rebalance.delay.ms": "0",
            "log.retention.check.interval.ms": "1000",
            "log.initial.task.delay.ms": "500",
        }

    def _command(self, *arguments: str) -> list[str]:
        java = _java()
        assert java is not None
        memory = ["-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        return [java, *memory, "-cp", f"{LIBRARIES}/*", *arguments]

    def _run(self, *arguments: str) -> None:
        subprocess.run(self._command(*arguments), check=True, capture_output=True, timeout=_START_S)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with open(self._folder / "broker.log", "ab") as log:
            self._process = subprocess.Popen(
                self._command("kafka.Kafka", str(self._config)), stdout=log, stderr=log
            )
        self.wait()

    def wait(self) -> None:
        """Wait until it answers."""
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            assert self._process is not None
            assert self._process.poll() is None, "the broker ended"
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1):
                    pass
                with self.admin() as admin:
                    admin.list_topics(timeout=2)
                return
            except Exception:
                time.sleep(0.1)
        raise AssertionError("the broker did not start")

    def kill(self) -> None:
        """Kill it at once, as a power loss of its process would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._process = None

    def stop(self) -> None:
        """End it, if it runs."""
        if self._process is not None:
            self.kill()

    # --- topics

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.servers, "log_level": "0", **self.client})

    def create(self, topic: str, partitions: int = 1, **config: str) -> None:
        """Make a topic; settings have `_` in place of dots."""
        settings = {name.replace("_", "."): value for name, value in config.items()}
        new = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=settings)
        with self.admin() as admin:
            for future in admin.create_topics([new]).values():
                future.result(30)
