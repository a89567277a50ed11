"""Every example, on every engine, against its recorded output.

`examples/NAME.yaml` or `NAME.py:network` reads `NAME/in/INPUT.*` and writes `NAME/out/OUTPUT.*`. With
AUSTRALIS_RECORD=1 the reference records them again: check what changed before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from australis.app.cli import main
from australis.app.running.engines import ENGINES, SPARK

EXAMPLES = Path(__file__).parent.parent / "examples"
NETWORKS = sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".yaml", ".json", ".py"))
RECORDING = bool(os.environ.get("AUSTRALIS_RECORD"))


def argument(network: Path) -> str:
    return f"{network}:network" if network.suffix == ".py" else str(network)


def run(network: Path, target: Path, *options: str) -> None:
    files = EXAMPLES / network.stem
    inputs = [f"--input={path.name.partition('.')[0]}={path}" for path in sorted((files / "in").iterdir())]
    outputs = [f"--output={path.stem}={target / path.name}" for path in sorted((files / "out").iterdir())]
    command = [
        "run",
        argument(network),
        *inputs,
        *outputs,
        "--flush",
        "--clock=stopped",
        *options,
    ]
    answer = CliRunner().invoke(main, command)
    assert answer.exit_code == 0, answer.output
    assert " quarantined at " not in answer.stderr, answer.stderr


@pytest.mark.parametrize("network", NETWORKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("engine", [*ENGINES, pytest.param(SPARK, marks=pytest.mark.spark)])
def test_example(network: Path, engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if engine == SPARK:
        request.getfixturevalue("spark")
    recorded = EXAMPLES / network.stem / "out"
    if RECORDING and engine == "reference":
        run(network, recorded, "--engine=reference")
    run(network, tmp_path, f"--engine={engine}")
    # With one mark or at the end, partitions emit one after the other: on Spark, groups in any sequence.
    shown = sorted if engine == SPARK else list
    for path in sorted(recorded.iterdir()):
        found, expected = (tmp_path / path.name).read_text(), path.read_text()
        assert shown(found.splitlines()) == shown(expected.splitlines())
        assert path.read_text().count("\n") > 1, "an example without output shows nothing"


@pytest.mark.parametrize("network", NETWORKS, ids=lambda path: path.stem)
def test_the_cut_into_batches_changes_no_set_of_results(network: Path, tmp_path: Path) -> None:
    """Inputs take turns, so their interleaving depends on the batch; the sets of results do not."""
    run(network, tmp_path, "--batch=1", "--engine=kernels")
    for path in sorted((EXAMPLES / network.stem / "out").iterdir()):
        found, recorded = (tmp_path / path.name).read_text(), path.read_text()
        assert sorted(found.splitlines()) == sorted(recorded.splitlines())


@pytest.mark.parametrize("network", NETWORKS, ids=lambda path: path.stem)
def test_the_picture_is_that_of_the_network(network: Path) -> None:
    answer = CliRunner().invoke(main, ["explain", argument(network), "--format=svg"])
    picture = EXAMPLES / network.stem / "picture.svg"
    if RECORDING:
        picture.write_text(answer.stdout)
    assert picture.read_text() == answer.stdout


def test_every_example_is_in_the_list() -> None:
    listed = (EXAMPLES / "README.md").read_text()
    assert NETWORKS
    for network in NETWORKS:
        assert f"[{network.name}]({network.name})" in listed
