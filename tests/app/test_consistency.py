"""All commands are of one make: what is the same is named the same, all can print JSON, all show examples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.app.files import NETWORK, REPORTS, australis, write

from australis.app.commands import COMMANDS, load_command
from australis.app.options import GroupedCommand


def leaves(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for each, below in command.commands.items():
            yield from leaves(f"{name} {each}", below)
    else:
        yield name, command


EVERY = dict(leaf for name in COMMANDS for leaf in leaves(name, load_command(name)))
ABOUT_A_ROOT = ("deploy", "query", "detach", "refresh", "history", "stats", "verify", "forget")


def options(command: click.Command) -> dict[str, click.Option]:
    return {text: param for param in command.params if isinstance(param, click.Option) for text in param.opts}


@pytest.mark.parametrize("name", EVERY)
def test_every_command_prints_json_and_shows_examples(name: str) -> None:
    assert "--json" in options(EVERY[name])
    text = australis(*name.split(), "--help").stdout
    examples = text.partition("Examples:\n")[2]
    assert f"australis {name}" in examples, text


@pytest.mark.parametrize("name", EVERY)
def test_every_option_is_explained(name: str) -> None:
    assert [text for text, option in options(EVERY[name]).items() if not option.help] == []


@pytest.mark.parametrize("name", EVERY)
def test_what_is_the_same_has_one_name(name: str) -> None:
    """A root is --root DIR, a result goes to --output, rates are --rate, wherever there are such."""
    found = options(EVERY[name])
    for text, metavar in (
        ("--root", ("DIR",)),
        ("--output", ("FILE", "NAME=FILE")),
        ("--input", ("NAME=FILE",)),
    ):
        assert text not in found or found[text].metavar in metavar
    assert "--rate" not in found or found["--rate"].metavar in ("[NAME=]N/s", "N/s")
    if "--root" in found and name not in ("run", "check", "explain"):
        assert found["--root"].envvar == "AUSTRALIS_ROOT"
        assert "--catalog" in found


def test_commands_about_a_root_name_it_in_one_way() -> None:
    assert all("--root" in options(EVERY[name]) for name in ABOUT_A_ROOT)
    arguments = {
        name: [param.metavar for param in command.params if isinstance(param, click.Argument)]
        for name, command in EVERY.items()
    }
    assert not any("ROOT" in str(metavar) for each in arguments.values() for metavar in each)


@pytest.mark.parametrize(
    "name", [name for name, command in EVERY.items() if isinstance(command, GroupedCommand)]
)
def test_options_in_groups_are_all_in_one(name: str) -> None:
    command = EVERY[name]
    assert isinstance(command, GroupedCommand)
    grouped = [each for names in command.groups.values() for each in names]
    assert len(set(grouped)) == len(grouped)
    own = {param.name for param in command.params if isinstance(param, click.Option)}
    common = {"verbose", "log_format", "log_file", "progress", "as_json"}
    assert own - common - set(grouped) == set()
    assert set(grouped) - own == set()


def test_the_options_of_a_run_are_in_groups() -> None:
    text = australis("run", "--help").stdout
    titles = [
        "Inputs",
        "Outputs",
        "Engine",
        "Node",
        "Quality of service",
        "Spark",
        "Logging",
        "Other options",
    ]
    places = [text.index(f"\n{title}:\n") for title in titles]
    assert places == sorted(places)
    assert text.endswith("Other options:\n  -h, --help  Show this message and exit.\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "cars.yaml", CARS)
    write(tmp_path / "pos.csv", "car,time,speed\n1,1,90\n2,2,70\n")
    monkeypatch.chdir(tmp_path)
    answer = australis(
        "run", "cars.yaml", "-i", "pos=pos.csv", "-o", "fast=fast.csv", *KEPT, "--runner=light"
    )
    assert answer.exit_code == 0, answer.output
    return tmp_path


CARS = """\
australis: 1
name: cars
inputs:
  pos: {schema: {car: int not null, time: long not null, speed: double}}
boxes:
  fast: {box: filter, from: pos, predicates: [speed > 80]}
connection_points:
  pos: {at: pos, history: forever}
outputs:
  fast: {from: fast}
"""
KEPT = ("--root=root",)


def test_json_is_all_that_is_on_standard_output(folder: Path) -> None:
    """Of commands about a root that need no node."""
    for command in (
        ("check", "cars.yaml"),
        ("explain", "--root", "root"),
        ("stats", "--root", "root"),
        ("stats", "root"),
        ("verify", "--root", "root"),
        ("stats", "--root", "root", "--shed"),
        ("query", "--list", "--root", "root"),
        ("history", "pos", "--files", "--root", "root"),
        ("forget", "fast.csv", "--root", "root"),
    ):
        answer = australis(*command, "--json")
        assert answer.exit_code == 0, answer.output
        json.loads(answer.stdout)
        assert answer.stderr == ""
    lines = australis("history", "pos", "--root", "root", "--json").stdout.splitlines()
    assert [json.loads(line)["car"] for line in lines] == [1, 2]


def test_what_was_forgotten_is_json(folder: Path) -> None:
    (found,) = json.loads(australis("forget", "fast.csv", "--root", "root", "--json").stdout)
    assert (found["output"], found["tuples"]) == ("fast", 0)


def test_the_root_of_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = australis("stats")
    assert (
        refused.exit_code,
        "Missing option '--root' or '--node' (or set AUSTRALIS_ROOT" in refused.stderr,
    ) == (
        2,
        True,
    )
    assert "two roots are given, root and other" in australis("stats", "root", "--root", "other").stderr
    monkeypatch.setenv("AUSTRALIS_ROOT", "root")
    assert australis("stats").exit_code == 0
    monkeypatch.setenv("AUSTRALIS_ROOT", "nowhere")
    assert australis("stats", "root").exit_code == 0


def test_a_rate_is_of_every_input_or_of_one(tmp_path: Path) -> None:
    """In a run as in the analysis of a load."""
    net, reports = write(tmp_path / "net.yaml", NETWORK), write(tmp_path / "reports.csv", REPORTS)
    names = write(tmp_path / "names.csv", "sid,name\n1,Ann\n")
    run = (
        "run",
        net,
        "-i",
        f"reports={reports}",
        "-i",
        f"names={names}",
        "-o",
        f"counts={tmp_path / 'c.csv'}",
    )
    assert australis(*run, "--rate", "report=5/s").stderr.endswith(
        "--rate report=5/s: there is no input 'report'; the inputs are reports\n"
    )
    assert "--rate 5/s is given twice" in australis(*run, "--rate", "5/s", "--rate", "5/s").stderr
    assert "'names' is a stored table, which has no rate" in australis(*run, "--rate", "names=5/s").stderr
    for rate in ("1M/s", "reports=1M/s"):
        answer = australis(*run, "--runner", "light", "--rate", rate)
        assert answer.exit_code == 0, answer.output
    general = australis("check", net, "--rate", "5k/s", "--tuples", "1000", "--json")
    assert json.loads(general.stdout)["analysis"]["inputs"]["reports"]["received"] == 5000
