"""An S3 server of this machine for tests: versitygw, over a folder. `make test-objects` builds it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

PROGRAM = Path(__file__).parents[2] / "build" / "bin" / "versitygw"
BUCKET = "bucket"
KEY, SECRET = "australis", "only-for-tests"
SECONDS_TO_START = 30.0
_REQUEST = re.compile(r"\| (GET|PUT|POST|DELETE|HEAD) +\| (\S*) +\| (\S*)")


class S3Server:
    """Runs from `with` to its end; credentials are in this process's environment, and its children's."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._log = folder, folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        (self._folder / "data" / BUCKET).mkdir(parents=True)
        self.port = _free_port()
        os.environ |= {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start it on its port, and wait until it answers."""
        environment = {**os.environ, "ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET}
        command = [str(PROGRAM), "--port", f"127.0.0.1:{self.port}", "posix", str(self._folder / "data")]
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        until = time.monotonic() + SECONDS_TO_START
        while not _answers(self.port):
            assert self._process.poll() is None, self._log.read_text()[-2000:]
            assert time.monotonic() < until, "the server does not answer"

    def stop(self) -> None:
        """End it, as a failure would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def uri(self, name: str, bucket: str = BUCKET) -> str:
        """The address of a root."""
        return f"s3://{bucket}/{name}?endpoint_override=127.0.0.1%3A{self.port}&scheme=http"

    def requests(self) -> Counter[str]:
        """How many requests it has had so far, by method."""
        return Counter(found[1] for found in _REQUEST.finditer(self._log.read_text(errors="replace")))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    with socket.socket() as asking:
        asking.settimeout(0.2)
        return asking.connect_ex(("127.0.0.1", port)) == 0
