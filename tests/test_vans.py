"""The vans of examples/vans: both forms are one network; every output is what DuckDB finds, across kills."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.json as pa_json
import pytest
from click.testing import CliRunner
from tests.test_docs import Reader, docs

import australis
from australis.app.cli import main

VANS = Path(__file__).parent.parent / "examples" / "vans"
# Where a machine is slow, compare.py tries again with longer timeouts.
pytestmark = pytest.mark.timeout(600)
SMALL = ("--vans=200", "--rate=600", "--times=1", "--duration=8", "--speed=60", "--timeout=12")


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A module of the example, which sees the others as it does when it is run."""
    monkeypatch.syspath_prepend(str(VANS))
    return import_module


def script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script of the example; if the test ends before it, it is asked to end what it has started."""
    command = [sys.executable, str(VANS / name), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = process.communicate()
    finally:
        process.terminate()
        process.wait()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def comparison(*arguments: str) -> dict[str, Any]:
    """The last line that compare.py prints."""
    answer = script("compare.py", *arguments)
    assert answer.stdout, answer.stderr
    return json.loads(answer.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("compared")
    return folder / "1x", comparison(*SMALL, f"--folder={folder}")


def test_yaml_and_python_are_one_network(module: Callable[[str], ModuleType]) -> None:
    assert australis.loads((VANS / "vans.yaml").read_text(), ".yaml") == module("vans").network()


def test_the_picture_is_that_of_the_network() -> None:
    answer = CliRunner().invoke(main, ["explain", str(VANS / "vans.yaml"), "--format=svg"])
    assert (VANS / "picture.svg").read_text() == answer.stdout


def reports(folder: Path) -> list[dict[str, Any]]:
    files = [file for file in sorted((folder / "incoming").iterdir()) if file.stat().st_size]
    return [row for file in files for row in pa_json.read_json(file).to_pylist()]


def test_the_same_seed_makes_the_same_reports(tmp_path: Path) -> None:
    given = ("--vans=50", "--rate=50", "--duration=60", "--speed=10")
    for name, seed in (("one", 7), ("again", 7), ("other", 8)):
        assert script("reports.py", str(tmp_path / name), *given, f"--seed={seed}").returncode == 0
    one, again, other = (reports(tmp_path / name) for name in ("one", "again", "other"))
    assert one == again
    assert one != other


def test_reports_come_out_of_order_by_no_more_than_the_slack_at_five_times_the_rate(tmp_path: Path) -> None:
    script("reports.py", str(tmp_path), "--vans=200", "--rate=1000", "--duration=60")
    times: dict[str, list[str]] = {}
    for row in reports(tmp_path):
        times.setdefault(row["van"], []).append(row["at"])
    overtaken = [
        sum(before > at for before in of_van[:place])
        for of_van in times.values()
        for place, at in enumerate(of_van)
    ]
    assert 5 < max(overtaken) <= 20


def test_the_kernels_find_the_same(tmp_path: Path, module: Callable[[str], ModuleType]) -> None:
    given = ("--vans=30", "--rate=30", "--duration=60", "--speed=20", "--file-every=100")
    script("reports.py", str(tmp_path), *given)
    (tmp_path / "vans.yaml").write_text((VANS / "vans.yaml").read_text())
    expected = module("expected")
    outputs = [f"--output={name}={tmp_path / name}.csv" for name in expected.KEYS]
    arguments = [
        str(tmp_path / "vans.yaml"),
        f"--input=reports={tmp_path / 'incoming/000000.jsonl'}",
        *outputs,
    ]
    answer = CliRunner().invoke(main, ["run", *arguments, "--engine=kernels", "--flush", "--clock=stopped"])
    assert answer.exit_code == 0, answer.output
    compared = {name: expected.Expected(tmp_path).compare(name, 0) for name in expected.KEYS}
    assert all(found.results for found in compared.values())
    assert {(found.missing, found.doubled, found.wrong) for found in compared.values()} == {(0, 0, 0)}


def test_every_output_is_what_duckdb_finds_though_the_node_was_killed(
    compared: tuple[Path, dict[str, Any]],
) -> None:
    """Nothing follows the last report of a van: compare.py waits until timeouts have named every van."""
    _, found = compared
    counts = {what: found[what] for what in ("kills", "missing", "doubled", "wrong")}
    assert counts == {"kills": 2, "missing": 0, "doubled": 0, "wrong": 0}, found
    (run,) = found["runs"]
    assert (run["late"], run["quarantined"]) == (0, 0)
    assert all(output["results"] for output in run["outputs"].values())


def change(file: Path, edit: Callable[[list[str]], list[str]]) -> None:
    header, *rows = file.read_text().splitlines(keepends=True)
    file.write_text(header + "".join(edit(rows)))


@pytest.mark.parametrize(
    ("edit", "counts"),
    [
        (lambda rows: rows[1:], (1, 0, 0)),
        (lambda rows: [*rows, rows[0]], (0, 1, 0)),
        (lambda rows: [rows[0].replace("v00", "w00"), *rows[1:]], (1, 0, 1)),
        (lambda rows: [rows[0].rpartition(",")[0] + ",nowhere\n", *rows[1:]], (0, 0, 1)),
    ],
    ids=["missing", "doubled", "another van", "another depot"],
)
def test_the_comparison_finds_what_is_not_right(
    compared: tuple[Path, dict[str, Any]],
    module: Callable[[str], ModuleType],
    edit: Callable[[list[str]], list[str]],
    counts: tuple[int, int, int],
) -> None:
    folder, _ = compared
    file = folder / "standing.csv"
    written = file.read_text()
    change(file, edit)
    found = module("expected").Expected(folder).compare("standing", 0)
    file.write_text(written)
    assert (found.missing, found.doubled, found.wrong) == counts


def test_averages_that_miss_reports_are_reduced_only_if_the_node_says_so(
    compared: tuple[Path, dict[str, Any]], module: Callable[[str], ModuleType]
) -> None:
    folder, _ = compared
    file = folder / "averages.csv"
    written = file.read_text()
    lost = int(written.splitlines()[1].rpartition(",")[2])
    change(file, lambda rows: rows[1:])
    expected = module("expected").Expected(folder)
    told, untold = expected.compare("averages", lost), expected.compare("averages", lost + 1)
    file.write_text(written)
    assert (told.missing, told.wrong, told.reduced) == (0, 0, 1)
    assert untold.wrong == 1


@pytest.mark.long
def test_five_times_the_rate() -> None:
    found = comparison("--vans=1000", "--rate=1000", "--duration=30", "--times", "1", "5")
    assert (found["missing"], found["doubled"], found["wrong"]) == (0, 0, 0), found
    assert [(run["rate"], run["late"]) for run in found["runs"]] == [(1000, 0), (5000, 0)]


def test_the_page_shows_what_its_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The console blocks; what runs in several terminals is tried by hand."""
    monkeypatch.setenv("VANS", str(VANS))
    (tmp_path / "vans.yaml").write_text((VANS / "vans.yaml").read_text())
    fences = docs._FENCE.finditer((VANS / "README.md").read_text())
    shown = [fence["body"] for fence in fences if fence["info"] == "console"]
    reader = Reader(tmp_path)
    for block in shown:
        reader.follow("console", block)
    assert reader.followed == {"console": 3}
