"""`australis simulate trials` and `australis simulate replay`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.app.files import australis

from australis.app.papers.worlds.command import WORLDS


@pytest.mark.parametrize("policy", WORLDS)
def test_a_journal_is_repeated_and_a_change_in_it_is_found(policy: str, tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    done = australis("simulate", "trials", policy, "--seeds", "1", "--seed", "3", "--journal", str(file))
    assert done.exit_code == 0, done.stderr
    assert f"{policy}: everything held in 1 worlds, seeds 3 to 3\n" in done.stdout
    again = australis("simulate", "replay", str(file))
    assert again.exit_code == 0, again.stdout
    assert "; no differences" in again.stdout
    lines = file.read_bytes().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if b'"commands":[{' in line)
    lines[place] = lines[place].partition(b'"commands":')[0] + b'"commands":[]}\n'
    file.write_bytes(b"".join(lines))
    found = australis("simulate", "replay", str(file))
    assert (found.exit_code, f"line {place + 1}, at " in found.stdout) == (1, True)
    assert "the journal has no command" in found.stdout
    told = json.loads(australis("simulate", "replay", str(file), "--json").stdout)
    assert told["differences"][0]["line"] == place + 1


def test_trials_as_json() -> None:
    found = json.loads(australis("simulate", "trials", "market", "--seeds", "3", "--json").stdout)
    assert (found["policy"], found["worlds"]) == ("market", 3)
    assert found["refused"] > 0


def test_a_line_that_is_cut_off_at_the_end_is_no_error_and_elsewhere_is(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    australis("simulate", "trials", "market", "--seeds", "1", "--journal", str(file))
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert australis("simulate", "replay", str(file)).exit_code == 0
    file.write_bytes(b"{}\n" + whole)
    done = australis("simulate", "replay", str(file))
    assert done.exit_code == 1
    assert "journal, line 1: cannot be read" in done.stderr
