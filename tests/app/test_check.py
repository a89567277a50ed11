"""`australis check`: a line for a valid network, every problem of another one, and the exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.app.files import NETWORK, australis, write


@pytest.fixture
def net(tmp_path: Path) -> Path:
    return write(tmp_path / "soldiers.yaml", NETWORK)


def test_a_valid_network(net: Path) -> None:
    answer = australis("check", net)
    assert answer.exit_code == 0
    assert answer.stdout == "soldiers is valid: 1 input, 1 stored table, 3 boxes, 2 outputs\n"
    assert answer.stderr == ""


def test_every_problem_with_its_place(net: Path) -> None:
    write(net, NETWORK.replace("pos >= 30", "poz >= 30").replace("left.sid = right", "left.sid == right"))
    answer = australis("check", net)
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert "soldiers.across.predicates[0]: unknown attribute 'poz'" in answer.stderr
    assert "    poz >= 30\n    ^" in answer.stderr


def test_problems_as_json(net: Path) -> None:
    write(net, NETWORK.replace("pos >= 30", "poz >= 30"))
    answer = australis("check", net, "--json")
    assert answer.exit_code == 2
    found = json.loads(answer.stdout)
    assert found["valid"] is False
    assert found["problems"][0]["path"] == "soldiers.across.predicates[0]"
    assert found["problems"][0]["text"] == "poz >= 30"
    assert found["problems"][0]["position"] == 0


def test_even_a_failure_nobody_expected_is_json(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr("australis.app.commands.check.find_network", fail)
    answer = australis("check", net, "--json")
    assert answer.exit_code == 1
    found = json.loads(answer.stdout)
    assert (found["valid"], found["problems"][0]["what"]) == (False, "failed: RuntimeError: out of luck")
    assert "out of luck" in answer.stderr


def test_problems_with_half_a_character_are_json(tmp_path: Path) -> None:
    net = write(tmp_path / "net.json", '{"australis": 1, "name": "\\ud800", "inputs": {}}')
    answer = australis("check", net, "--json")
    assert answer.exit_code == 2
    assert json.loads(answer.stdout)["problems"][0]["path"] == "\ud800.name"


def test_warnings(net: Path) -> None:
    write(net, NETWORK.replace("  counts: {from: count}\n", ""))
    answer = australis("check", net)
    assert answer.exit_code == 0
    assert answer.stderr.startswith("warning: soldiers.count: no box or output reads this box")
    assert json.loads(australis("check", net, "--json").stdout)["warnings"][0]["path"] == "soldiers.count"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("net.yaml", "a: [", "net.yaml: is not valid YAML: "),
        ("net.json", '{"australis": 1,', "net.json: is not valid JSON: "),
        ("net.json", "{}", "australis: is missing; expected the version of the form, 1"),
        (
            "net.txt",
            "",
            "net.txt: is not a network file; "
            "expected a file that ends in .json, .yaml, .yml, or FILE.py:NAME",
        ),
        ("net.py", "x = 1", "net.py: is not a network file"),
    ],
)
def test_files_that_are_not_networks(tmp_path: Path, name: str, content: str, message: str) -> None:
    answer = australis("check", write(tmp_path / name, content))
    assert answer.exit_code == 2
    assert message in answer.stderr
    assert "Traceback" not in answer.output


def test_a_file_that_is_not_there() -> None:
    answer = australis("check", "nowhere.yaml")
    assert (answer.exit_code, answer.stderr) == (2, "nowhere.yaml: there is no such file\n")


PYTHON = """
from australis import NetworkBuilder
def build():
    net = NetworkBuilder("built")
    net.input("a", "x int").filter("x > 0").output("b")
    return net
builder = build()
network = build().build()
number = 17
def broken():
    return 1 / 0
def wrong():
    net = NetworkBuilder("wrong")
    net.input("a", "x int").filter("y > 0").output("b")
    return net
"""


@pytest.mark.parametrize("name", ["network", "builder", "build"])
def test_networks_in_python(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "built_networks.py", PYTHON)
    assert australis("check", f"{path}:{name}").stdout == "built is valid: 1 input, 1 box, 1 output\n"


def test_a_module_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "module_in_this_folder.py", PYTHON)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    assert australis("check", "module_in_this_folder:network").exit_code == 0


def test_a_file_takes_no_modules_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    path = write(tmp_path / "json.py", PYTHON)
    assert australis("check", f"{path}:network").exit_code == 0
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("number", "is a int; expected a Network, a builder, or a function that gives one"),
        ("nothing", "built_networks.py: has no 'nothing'; expected one of builder, network"),
        ("broken", "failed: ZeroDivisionError: division by zero"),
        ("wrong", "wrong.filter1.predicates[0]: unknown attribute 'y'; expected one of x"),
    ],
)
def test_names_that_are_not_networks(tmp_path: Path, name: str, message: str) -> None:
    path = write(tmp_path / "built_networks.py", PYTHON)
    answer = australis("check", f"{path}:{name}")
    assert answer.exit_code == 2
    assert message in answer.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("def (:", "is no Python: "),
        ("import nothing_like_it", "cannot be imported: ModuleNotFoundError"),
        (
            "from australis import register_scalar\n"
            "register_scalar('mine:same', str, takes=('string',), returns='strin')\n",
            "broken_module.py: unknown type 'strin'; expected one of int, long",
        ),
        ("import sys\nsys.exit(3)", "ended the program when imported: sys.exit(3)"),
        ("import sys\ndef network():\n    sys.exit()", "ended the program: sys.exit(None)"),
    ],
)
def test_python_that_does_not_import(tmp_path: Path, content: str, message: str) -> None:
    path = write(tmp_path / "broken_module.py", content)
    answer = australis("check", f"{path}:network")
    assert answer.exit_code == 2
    assert message in answer.stderr
    missing = australis("check", f"{tmp_path}/none.py:network")
    assert (missing.exit_code, missing.stderr) == (2, f"{tmp_path}/none.py: there is no such file\n")
    assert "cannot be imported" in australis("check", "no_such_module:network").stderr


def test_functions_are_registered_first(tmp_path: Path) -> None:
    net = write(tmp_path / "net.yaml", NETWORK.replace("pos >= 30", "'`mine:twice`(pos) >= 60'"))
    refused = australis("check", net)
    assert refused.exit_code == 2
    assert "no function 'mine:twice' is registered" in refused.stderr
    assert "or give its file to --functions" in refused.stderr
    functions = write(
        tmp_path / "mine.py",
        "import pyarrow.compute as pc\nfrom australis import register_function\n"
        "register_function('mine:twice', lambda a: pc.multiply(a, 2), takes=('int',), returns='int')\n",
    )
    accepted = australis("check", net, "--functions", functions)
    assert accepted.exit_code == 0, accepted.output


def test_help_has_examples() -> None:
    assert "australis check examples/soldiers.yaml" in australis("--help").stdout
    for command in ("check", "explain", "run", "demo"):
        answer = australis(command, "--help")
        assert answer.exit_code == 0
        assert "Examples:" in answer.stdout


def test_version_and_unknown_commands() -> None:
    assert "version" in australis("--version").stdout
    assert australis("fly").exit_code == 2
    assert australis().exit_code == 2


def test_a_sample_shows_what_was_misspelt(net: Path, tmp_path: Path) -> None:
    """Also where most rows have it right, and where the attribute is NULL in all rows."""
    right, wrong = '{"sid": 1, "time": 1, "pos": 3}\n', '{"sid": 1, "time": 1, "poss": 3}\n'
    some = write(tmp_path / "some.jsonl", right * 900 + wrong * 100)
    answer = australis("check", net, "--input", f"reports={some}")
    assert answer.exit_code == 0
    assert answer.stdout.endswith(f"reports: 1,000 of 1,000 rows of {some} fit\n")
    assert answer.stderr == (
        f"warning: soldiers.inputs.reports: {some}: field 'poss' is not in the schema; did you mean 'pos'?\n"
    )
    every = write(tmp_path / "every.jsonl", wrong * 1000)
    answer = australis("check", net, "--input", f"reports={every}")
    assert f"soldiers.inputs.reports.schema.pos: is NULL in all 1,000 rows of {every}" in answer.stderr


def test_a_sample_shows_what_would_be_quarantined(net: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "reports.csv", "sid,time,pos\n1,1,3\n2,x,3\n")
    answer = australis("check", net, "-i", f"reports={file}", "--json")
    assert answer.exit_code == 0
    found = json.loads(answer.stdout)
    assert found["samples"] == {"reports": {"file": str(file), "rows": 2, "rejected": 1}}
    (warning,) = found["warnings"]
    assert warning["what"].startswith(f"1 of 2 rows would be quarantined, the first: {file}, line 3: 'x' in")


def test_a_sample_of_an_input_that_is_not_there(net: Path) -> None:
    answer = australis("check", net, "--input", "report=reports.csv")
    assert answer.exit_code == 2
    assert "there is no input 'report'; there is reports" in answer.stderr
