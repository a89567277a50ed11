"""Names, authorities and certificates: who can prove to be whom."""

from __future__ import annotations

import socket
import ssl
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID
from tests.cluster.identities import authority, identity

from australis.cluster.identity import (
    Authority,
    Credentials,
    NodeName,
    certificates_in,
    new_node,
    peer_of,
)
from australis.errors import ClusterError


@pytest.mark.parametrize(
    "text",
    ["lab", "lab/", "/a", "Lab/a", "lab/a b", "lab/-a", "lab/a/b", "l" * 64 + "/a", "lab/ä", "lab/a\n"],
)
def test_what_cannot_be_a_name_is_refused(text: str) -> None:
    with pytest.raises(ClusterError):
        NodeName.parse(text)


def test_a_key_is_for_its_owner_only_and_never_overwritten(tmp_path: Path) -> None:
    home = identity(tmp_path, "lab/a")
    assert stat.S_IMODE((home / "key.pem").stat().st_mode) == 0o600
    before = (home / "key.pem").read_bytes()
    with pytest.raises(ClusterError, match="is there already"):
        new_node(NodeName("lab", "a"), home)
    assert (home / "key.pem").read_bytes() == before


def test_an_authority_signs_names_of_its_own_participant_only(tmp_path: Path) -> None:
    request = new_node(NodeName("shop", "till"), tmp_path / "till")
    with pytest.raises(ClusterError, match="asks for shop/till, and this is the authority of lab"):
        authority(tmp_path).sign(request, "request.pem")


def test_a_request_that_its_key_did_not_sign_is_refused(tmp_path: Path) -> None:
    request = bytearray(
        x509.load_pem_x509_csr(new_node(NodeName("lab", "a"), tmp_path / "a")).public_bytes(
            serialization.Encoding.DER
        )
    )
    request[-1] ^= 1
    text = x509.load_der_x509_csr(bytes(request)).public_bytes(serialization.Encoding.PEM)
    with pytest.raises(ClusterError, match="is not signed by the key"):
        authority(tmp_path).sign(text, "request.pem")


@pytest.mark.parametrize("text", [b"", b"nonsense", b"-----BEGIN CERTIFICATE REQUEST-----\nAA==\n"])
def test_what_is_no_request_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(ClusterError, match="holds no request"):
        authority(tmp_path).sign(text, "request.pem")


def test_certificates_are_shown(tmp_path: Path) -> None:
    home = identity(tmp_path, "lab/a", trusts=("shop",))
    own, *trusted = certificates_in(home)
    assert (own.name, own.signed_by) == ("lab/a", "lab")
    assert [each.name for each in trusted] == ["lab", "shop"]
    assert own.valid_until - datetime.now(UTC) > timedelta(days=390)
    assert len(own.sha256.split(":")) == 32
    with pytest.raises(ClusterError, match="holds no certificate"):
        certificates_in(tmp_path)


@pytest.mark.parametrize("missing", ["key.pem", "certificate.pem", "authorities/lab.pem"])
def test_an_incomplete_identity_is_refused(tmp_path: Path, missing: str) -> None:
    home = identity(tmp_path, "lab/a")
    (home / missing).unlink()
    with pytest.raises(ClusterError, match="australis identity new"):
        Credentials.load(home)


def test_a_key_of_another_certificate_is_refused(tmp_path: Path) -> None:
    home, other = identity(tmp_path, "lab/a"), identity(tmp_path, "lab/b")
    (home / "key.pem").write_bytes((other / "key.pem").read_bytes())
    with pytest.raises(ClusterError, match="holds no usable identity"):
        Credentials.load(home)


# --- who believes whom


def met(one: ssl.SSLContext, other: ssl.SSLContext) -> NodeName:
    """The name that the one who dials sees, after a handshake in which both must be satisfied."""
    left, right = socket.socketpair()
    left.settimeout(10)
    right.settimeout(10)

    def accept() -> None:
        with right, other.wrap_socket(right, server_side=True) as secured:
            secured.sendall(b"x")
            secured.recv(1)
            peer_of(secured.getpeercert())

    with ThreadPoolExecutor() as pool:
        accepted = pool.submit(accept)
        with left, one.wrap_socket(left) as secured:
            secured.recv(1)
            secured.sendall(b"x")
            found = peer_of(secured.getpeercert())
        accepted.result(10)
    return found


def test_nodes_that_trust_each_other_meet_by_name(tmp_path: Path) -> None:
    lab = Credentials.load(identity(tmp_path, "lab/a", trusts=("shop",)))
    shop = Credentials.load(identity(tmp_path, "shop/till", trusts=("lab",)))
    assert met(lab.dialling, shop.listening) == shop.name


def test_a_participant_that_is_not_trusted_is_refused(tmp_path: Path) -> None:
    lab = Credentials.load(identity(tmp_path, "lab/a"))
    shop = Credentials.load(identity(tmp_path, "shop/till", trusts=("lab",)))
    with pytest.raises(ssl.SSLError, match="certificate verify failed"):
        met(lab.dialling, shop.listening)
    with pytest.raises(ssl.SSLError, match="unknown ca"):
        met(shop.dialling, lab.listening)


def forged(folder: Path, change: Callable[[x509.CertificateBuilder], x509.CertificateBuilder]) -> Path:
    """An identity `lab/b` that the authority of shop has signed with its true key, past all its checks."""
    home = identity(folder, "shop/till", trusts=("lab",))
    shop = Authority.load(folder / "authority-shop")
    key = serialization.load_pem_private_key((home / "key.pem").read_bytes(), None)
    assert isinstance(key, Ed25519PrivateKey)
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lab/b")]))
        .issuer_name(shop.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=2))
    )
    signed = change(builder).sign(shop._key, None)
    (home / "certificate.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    return home


def named(uri: str) -> Callable[[x509.CertificateBuilder], x509.CertificateBuilder]:
    names = x509.SubjectAlternativeName([x509.UniformResourceIdentifier(uri)])
    return lambda builder: builder.add_extension(names, critical=False)


def test_an_authority_that_is_trusted_cannot_make_nodes_of_others(tmp_path: Path) -> None:
    lab = Credentials.load(identity(tmp_path, "lab/a", trusts=("shop",)))
    liar = Credentials.load(forged(tmp_path, named("australis://lab/b")))
    with pytest.raises(ssl.SSLError, match="permitted subtree violation"):
        met(lab.dialling, liar.listening)


def test_a_certificate_that_is_no_longer_valid_is_refused(tmp_path: Path) -> None:
    lab = Credentials.load(identity(tmp_path, "lab/a", trusts=("shop",)))
    shop = authority(tmp_path, "shop")
    home = identity(tmp_path, "shop/till", trusts=("lab",))
    request = (home / "request.pem").read_bytes()
    (home / "certificate.pem").write_bytes(shop.sign(request, "request.pem", days=0))
    with pytest.raises(ssl.SSLError, match="certificate has expired"):
        met(lab.dialling, Credentials.load(home).listening)


@pytest.mark.parametrize(
    "shown",
    [
        None,
        {},
        {"subjectAltName": (("DNS", "lab"),), "issuer": ((("commonName", "lab"),),)},
        {"subjectAltName": (("URI", "australis://lab/a"),), "issuer": ((("commonName", "shop"),),)},
        {"subjectAltName": (("URI", "australis://lab/a"),), "issuer": ()},
        {"subjectAltName": (("URI", "https://lab/a"),), "issuer": ((("commonName", "lab"),),)},
        {
            "subjectAltName": (("URI", "australis://lab/a"), ("URI", "australis://lab/b")),
            "issuer": ((("commonName", "lab"),),),
        },
    ],
)
def test_a_certificate_that_names_no_node_is_refused(shown: dict[str, object] | None) -> None:
    with pytest.raises(ClusterError):
        peer_of(shown)
