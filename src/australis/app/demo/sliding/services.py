"""Services in child processes of the demonstration, each with an identity, which know of each other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from australis.client import Client
from australis.cluster.identity import Authority, NodeName, new_node
from australis.errors import ClusterError, Problem

PARTICIPANT = "demo"
_END_S = 10.0
"""How long a service has to end by itself."""


class Service:
    """A service that runs until it is closed."""

    def __init__(self, folder: Path, name: str, cluster: Mapping[str, Any]) -> None:
        """`name` is that of a node of the participant, `cluster` its settings besides who it is."""
        self.name = f"{PARTICIPANT}/{name}"
        home = folder / name
        _authority(folder).admit(home, new_node(NodeName(PARTICIPANT, name), home))
        settings = {
            "listen": "127.0.0.1:0",
            "node": {"root": str(folder / f"root-{name}"), "runner": "light[1]"},
            "flight": {"enabled": False},
            "cluster": {"identity": str(home), "listen": "127.0.0.1:0", **cluster},
        }
        file = folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump(settings))
        self._log = folder / f"{name}.log"
        command = [sys.executable, "-m", "australis", "serve", "--json", "--config", str(file)]
        with self._log.open("ab") as log:
            # In a group of its own: Ctrl-C is for the demonstration, which ends it.
            self._child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """A client of the service, once it answers."""
        if self._client is None:
            assert self._child.stdout is not None
            line = self._child.stdout.readline()
            if not line:
                last = self._log.read_text(errors="replace").splitlines()[-1:]
                raise ClusterError(Problem(self.name, f"ended: {''.join(last)}", "a service that runs"))
            self._client = Client(json.loads(line)["url"])
        return self._client

    @property
    def place(self) -> str:
        """Where other nodes reach it; it runs a network."""
        return str(self.client.cluster()["listens"])

    def close(self) -> None:
        """End it, and all that it has started."""
        if self._client is not None:
            self._client.close()
        if self._child.poll() is None:
            self._child.terminate()
            # One that takes too long is killed.
            with suppress(subprocess.TimeoutExpired):
                # If it does not end by itself, it is killed.
                self._child.wait(_END_S)
        # It may have ended with all that it has started.
        with suppress(ProcessLookupError):
            # Usually nothing is left of it.
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        if self._child.stdout is not None:
            self._child.stdout.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _authority(folder: Path) -> Authority:
    home = folder / "authority"
    return Authority.load(home) if home.exists() else Authority.new(PARTICIPANT, home)
