"""`australis identity`: authorities, keys and certificates by hand, as the help says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.app.files import australis

from australis.cluster.identity import Credentials, NodeName


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def identity(*arguments: str) -> str:
    found = australis("identity", *arguments)
    assert found.exit_code == 0, found.stderr
    return found.stdout


def test_a_node_is_signed_where_its_authority_is_at_hand(tmp_path: Path) -> None:
    assert "has the authority of lab" in identity("new", "lab", "--authority", "-o", "lab-authority")
    assert "a has the identity lab/a" in identity("new", "lab/a", "-o", "a", "--sign-with", "lab-authority")
    assert Credentials.load(tmp_path / "a").name == NodeName("lab", "a")
    shown = json.loads(identity("show", "a", "--json"))
    assert [(each["name"], each["signed_by"]) for each in shown] == [("lab/a", "lab"), ("lab", "lab")]
    assert "lab/a  signed by lab  until " in identity("show", "a")


def test_a_request_is_signed_somewhere_else(tmp_path: Path) -> None:
    identity("new", "lab", "--authority", "-o", "lab-authority")
    told = identity("new", "lab/b", "-o", "b")
    assert "next: australis identity sign b" in told
    assert australis("identity", "show", "b").exit_code == 1
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "request.pem").write_bytes((tmp_path / "b" / "request.pem").read_bytes())
    identity("sign", "elsewhere/request.pem", "--authority", "lab-authority", "--days", "9")
    assert sorted(each.name for each in elsewhere.iterdir()) == [
        "authorities",
        "certificate.pem",
        "request.pem",
    ]
    for each in ("certificate.pem", "authorities"):
        (elsewhere / each).rename(tmp_path / "b" / each)
    assert Credentials.load(tmp_path / "b").name == NodeName("lab", "b")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("new", "Lab", "--authority", "-o", "x"), "'Lab' cannot name a participant"),
        (("new", "lab", "-o", "x"), "'lab' is no name of a node"),
        (("new", "lab/b", "-o", "lab-authority"), "is there already; expected another folder"),
        (("new", "shop/till", "-o", "x", "--sign-with", "lab-authority"), "this is the authority of lab"),
        (("new", "lab/b", "-o", "x", "--sign-with", "nowhere"), "cannot be read"),
        (
            ("new", "lab", "--authority", "-o", "x", "--sign-with", "lab-authority"),
            "an authority signs itself",
        ),
        (("sign", "nowhere", "--authority", "lab-authority"), "cannot be read"),
        (("sign", "lab-authority/key.pem", "--authority", "lab-authority"), "holds no request"),
        (("show", "lab-authority/key.pem"), "holds no certificate"),
        (("show", "nowhere"), "does not exist"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], told: str) -> None:
    identity("new", "lab", "--authority", "-o", "lab-authority")
    found = australis("identity", *arguments)
    assert found.exit_code in (1, 2)
    assert told in " ".join(found.stderr.split())
