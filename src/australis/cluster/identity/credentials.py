"""A node's credentials: the TLS contexts in which both sides show a certificate, and its own seal."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from australis.cluster.identity.files import AUTHORITIES, CERTIFICATE, KEY
from australis.cluster.identity.names import NodeName
from australis.cluster.identity.seals import Seal
from australis.cluster.identity.showing import certificates_in
from australis.errors import ClusterError, Problem

_MAKE = "a folder made by `australis identity new` and signed by `australis identity sign`"


@dataclass(frozen=True)
class Credentials:
    """Who a node is, the contexts in which it proves that, and the key with which it signs what it says."""

    name: NodeName
    dialling: ssl.SSLContext
    listening: ssl.SSLContext
    certificate: bytes
    """As DER."""
    authorities: tuple[bytes, ...]
    """The certificates that it trusts, as DER."""
    _key: Ed25519PrivateKey = field(repr=False)

    def seal(self, data: bytes) -> Seal:
        """The node's signature of some bytes."""
        return Seal(self.certificate, self._key.sign(data))

    @classmethod
    def load(cls, folder: Path) -> Credentials:
        """The credentials in the folder of a node."""
        for file in (KEY, CERTIFICATE):
            if not (folder / file).exists():
                raise ClusterError(Problem(str(folder / file), "is not there", _MAKE))
        trusted = sorted((folder / AUTHORITIES).glob("*.pem"))
        if not trusted:
            raise ClusterError(Problem(str(folder / AUTHORITIES), "trusts no authority", _MAKE))
        name = NodeName.parse(certificates_in(folder / CERTIFICATE)[0].name, str(folder / CERTIFICATE))
        dialling = _context(ssl.PROTOCOL_TLS_CLIENT, folder, trusted)
        listening = _context(ssl.PROTOCOL_TLS_SERVER, folder, trusted)
        own, authorities = _ders([folder / CERTIFICATE])[0], tuple(_ders(trusted))
        return cls(name, dialling, listening, own, authorities, _signing_key(folder / KEY))


def _context(protocol: Any, folder: Path, trusted: list[Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # Nodes are known by their names, wherever they are: `peer_of` reads them from the certificate.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    try:
        context.load_cert_chain(folder / CERTIFICATE, folder / KEY)
        for each in trusted:
            context.load_verify_locations(each)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise ClusterError(Problem(str(folder), f"holds no usable identity: {error}", _MAKE)) from error
    return context


def _ders(paths: list[Path]) -> list[bytes]:
    """The certificates in some files, which TLS has loaded before."""
    found = [each for path in paths for each in x509.load_pem_x509_certificates(path.read_bytes())]
    return [each.public_bytes(serialization.Encoding.DER) for each in found]


def _signing_key(path: Path) -> Ed25519PrivateKey:
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ClusterError(Problem(str(path), "is no Ed25519 key", _MAKE))
    return key


def peer_of(certificate: Mapping[str, Any] | None) -> NodeName:
    """The name of the node on the other side, from its certificate, which TLS has verified.

    >>> shown = {"subjectAltName": (("URI", "australis://lab/a"),), "issuer": ((("commonName", "lab"),),)}
    >>> str(peer_of(shown))
    'lab/a'
    """
    uris = [value for kind, value in (certificate or {}).get("subjectAltName", ()) if kind == "URI"]
    if certificate is None or len(uris) != 1:
        raise ClusterError(Problem("", "the certificate names no node", "one of an Australis node"))
    name = NodeName.of_uri(uris[0])
    issuers = [text for part in certificate["issuer"] for key, text in part if key == "commonName"]
    if issuers != [name.participant]:
        what = f"the certificate of {name} is signed by {', '.join(issuers) or 'nobody'}"
        raise ClusterError(Problem("", what, f"the authority of {name.participant}"))
    return name
