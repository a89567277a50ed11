"""A real broker for tests: mosquitto, on a free port of loopback, with a folder that it keeps."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt

PROGRAM = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")


class Broker:
    """A broker that can be killed and started again; its sessions are on disk."""

    def __init__(self, *lines: str) -> None:
        assert PROGRAM is not None
        self._home = Path(tempfile.mkdtemp(prefix="australis-mqtt-"))
        self.port = _free_port()
        self._home.chmod(0o777)
        settings = (
            f"listener {self.port} 127.0.0.1",
            "allow_anonymous true" if not lines else "",
            "persistence true",
            f"persistence_location {self._home}/",
            "autosave_on_changes true",
            "autosave_interval 1",
            "max_queued_messages 0",
            *lines,
        )
        (self._home / "settings").write_text("\n".join(settings) + "\n")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        assert PROGRAM is not None
        command = [PROGRAM, "-c", str(self._home / "settings")]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pause = threading.Event()
        while True:
            assert self._process.poll() is None, "the broker has ended"
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                pause.wait(0.05)

    def stop(self) -> None:
        """End in order: what is queued is written to disk."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._home)

    def publish(self, topic: str, *payloads: str | bytes, **options: Any) -> None:
        """Publish messages, and wait until the broker has them."""
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        client.connect("127.0.0.1", self.port)
        client.loop_start()
        for each in [client.publish(topic, payload, qos=1, **options) for payload in payloads]:
            each.wait_for_publish(60)
        client.disconnect()
        client.loop_stop()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
