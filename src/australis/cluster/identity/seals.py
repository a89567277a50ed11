"""Seals: what a node says of itself, signed with its key; others can pass it on, and nobody can change it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.x509.oid import NameOID

from australis.cluster.identity.names import NodeName
from australis.errors import ClusterError
from australis.policy.machines import Value

CERTIFICATE_MOST = 2048
_KNOWN_MOST = 4096


class Seal(Value, frozen=True):
    """A signature, and the certificate of who made it."""

    certificate: Annotated[bytes, msgspec.Meta(max_length=CERTIFICATE_MOST)]
    signature: Annotated[bytes, msgspec.Meta(min_length=64, max_length=64)]


@dataclass(frozen=True)
class _Signer:
    """What a certificate that a trusted authority has signed says."""

    name: NodeName
    key: Ed25519PublicKey
    begin_us: int
    end_us: int


class Seals:
    """Examines seals by the authorities that a node trusts; a certificate is examined once."""

    def __init__(self, authorities: Sequence[bytes]) -> None:
        """`authorities` are certificates, as DER."""
        self._authorities = [x509.load_der_x509_certificate(each) for each in authorities]
        self._known: OrderedDict[bytes, _Signer | None] = OrderedDict()

    def signer(self, seal: Seal, data: bytes, now_us: int) -> NodeName | None:
        """The node that has signed some bytes; None if no node that is trusted has."""
        found = self._examined(seal.certificate)
        if found is None or not found.begin_us <= now_us < found.end_us:
            return None
        try:
            found.key.verify(seal.signature, data)
        except InvalidSignature:
            # Somebody else has signed it, and that is the answer.
            return None
        return found.name

    def _examined(self, certificate: bytes) -> _Signer | None:
        if certificate in self._known:
            self._known.move_to_end(certificate)
            return self._known[certificate]
        found = self._known[certificate] = self._read(certificate)
        if len(self._known) > _KNOWN_MOST:
            self._known.popitem(last=False)
        return found

    def _read(self, data: bytes) -> _Signer | None:
        try:
            certificate = x509.load_der_x509_certificate(data)
            issuer = next(each for each in self._authorities if _has_issued(each, certificate))
            names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
            (uri,) = names.get_values_for_type(x509.UniformResourceIdentifier)
            name, key = NodeName.of_uri(uri), certificate.public_key()
        except (
            ValueError,
            TypeError,
            StopIteration,
            x509.ExtensionNotFound,
            x509.DuplicateExtension,
            ClusterError,
        ):
            # A stranger may send anything; it is no certificate of a node that is trusted.
            return None
        if not isinstance(key, Ed25519PublicKey) or issuer.subject != _subject(name.participant):
            return None
        begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        return _Signer(name, key, int(begin.timestamp() * 1e6), int(end.timestamp() * 1e6))


def _has_issued(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        # That is the answer.
        return False
    return True


def _subject(participant: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, participant)])
