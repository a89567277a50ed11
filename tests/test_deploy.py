"""The files of deploy/: as far as they can be checked without a container runtime or a system manager."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.service.running import running_service

from australis.service.settings import ServiceSettings

ROOT = Path(__file__).parents[1]
CONTAINERFILE = ROOT / "deploy" / "Containerfile"
UNIT = ROOT / "deploy" / "systemd" / "australis.service"
Instructions = list[tuple[str, str]]


def instructions() -> Instructions:
    text = re.sub(r"^#.*\n", "", CONTAINERFILE.read_text(), flags=re.M).replace("\\\n", " ")
    found = [re.sub(r"\s+", " ", line).strip().partition(" ") for line in text.splitlines() if line.strip()]
    return [(name, rest) for name, _, rest in found]


def test_the_container_runs_as_nobody_in_particular_and_gets_signals() -> None:
    found = instructions()
    runs = {"RUN", "USER", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
    known = runs | {"FROM", "COPY", "ENV", "WORKDIR", "VOLUME", "EXPOSE"}
    assert {name for name, _ in found} <= known
    last = dict(found)
    assert int(last["USER"]) > 0
    assert json.loads(last["ENTRYPOINT"])[0] == "tini", "the exec form, under something that reaps"
    assert json.loads(last["CMD"])[0] == "serve"
    assert last["FROM"] == "python:3.11-slim"


def test_the_shell_of_the_container_can_be_read() -> None:
    for name, rest in instructions():
        if name == "RUN":
            subprocess.run(["sh", "-n", "-c", rest], check=True)


def test_the_extras_of_the_container_are_there() -> None:
    (named,) = re.findall(r"/source\[([\w,]+)\]", CONTAINERFILE.read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(named.split(",")) <= set(project["optional-dependencies"])


def test_the_health_check_asks_the_service(tmp_path: Path) -> None:
    _, _, command = dict(instructions())["HEALTHCHECK"].partition("CMD ")
    _, *arguments = json.loads(command)
    settings = ServiceSettings.model_validate({"node": {"root": str(tmp_path), "runner": "light[1]"}})

    def check(url: str) -> int:
        environment = {**os.environ, "AUSTRALIS_HEALTH": url}
        done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=False)
        return done.returncode

    with running_service(settings) as client:
        url = str(client.base_url).rstrip("/")
        assert check(url) == 0
    assert check(url) != 0


def test_the_unit_is_one(tmp_path: Path, serves: Callable[[str], bool]) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    text = UNIT.read_text()
    assert serves(text)
    # The program is not installed on this machine.
    (tmp_path / UNIT.name).write_text(text.replace("/opt/australis/bin/australis", "/bin/true"))
    command = [program, "verify", str(tmp_path / UNIT.name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def serves() -> Callable[[str], bool]:
    """Whether the command of a unit has only options that `australis serve` has."""

    def check(text: str) -> bool:
        (command,) = re.findall(r"^ExecStart=(.*)$", text, re.M)
        known = subprocess.run(
            [sys.executable, "-m", "australis", "serve", "--help"], capture_output=True, text=True, check=True
        ).stdout
        return all(option in known for option in re.findall(r"--\w+", command))

    return check
