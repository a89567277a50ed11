"""A run in a process of its own, over a root, that the tests of the other commands talk to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.app.files import write
from tests.waiting import until

from australis.engine.control.client import Control, reach
from australis.errors import EngineError

NETWORK = """\
australis: 1
name: cars
inputs:
  pos: {schema: {car: int not null, time: long not null, speed: double}}
boxes:
  fast: {box: filter, from: pos, predicates: [speed > 80]}
  mean: {box: aggregate, from: pos, functions: {mean: avg(speed)}, order: {on: time}, size: 1000000}
connection_points:
  pos: {at: pos, history: forever}
outputs:
  fast: {from: fast}
  means: {from: mean}
"""
DRAWN = "generator:seed=3,car=key(5),time=serial(),speed=uniform(0,100)"
COMMAND = [sys.executable, "-m", "australis.app.cli"]


class Running:
    """`australis run` over the folder `root`, at a moderate rate, without an end."""

    def __init__(self, folder: Path, network: str = "cars.yaml", *outputs: str) -> None:
        self.folder = folder
        if not (folder / "cars.yaml").exists():
            write(folder / "cars.yaml", NETWORK)
        options = (f"--input=pos={DRAWN}", "--root=root", "--rate=2000/s", *outputs)
        self.process = subprocess.Popen(
            [*COMMAND, "run", network, *options],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._until_answered()

    def control(self) -> Control:
        """A conversation with the node."""
        found = reach(self.folder / "root")
        assert found is not None
        return found

    def end(self, number: int) -> str:
        """End the run by a signal; gives what it said."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=100)
        return said

    def _until_answered(self) -> None:
        def answers() -> bool:
            assert self.process.poll() is None, self.process.communicate()
            found = reach(self.folder / "root")
            if found is None:
                return False
            with found:
                try:
                    return bool(found.statistics()["log_end"] > 1)
                except EngineError:
                    return False

        until(answers, seconds=250)


def client(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A command that runs beside the test."""
    return subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def rest_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process says to its end, after the lines that were read."""
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdout.read(), process.stderr.read()
