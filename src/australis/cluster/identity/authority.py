"""Makes keys, requests and certificates: for people without a public key infrastructure of their own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from australis.cluster.identity.files import (
    AUTHORITIES,
    AUTHORITY,
    CERTIFICATE,
    KEY,
    REQUEST,
    read,
    replace,
    write_new,
)
from australis.cluster.identity.names import NodeName, check_participant
from australis.errors import ClusterError, Problem

AUTHORITY_DAYS, NODE_DAYS = 3650, 397
_EARLY = timedelta(minutes=5)
"""How long before it is made a certificate is valid: clocks differ."""


@dataclass(frozen=True)
class Authority:
    """A participant's authority: it signs the names of the participant's nodes."""

    participant: str
    certificate: x509.Certificate
    _key: Ed25519PrivateKey

    @classmethod
    def new(cls, participant: str, folder: Path, days: int = AUTHORITY_DAYS) -> Authority:
        """Make an authority, with its key in a folder."""
        check_participant(participant)
        key, subject = Ed25519PrivateKey.generate(), _subject(participant)
        # It can sign no other authority, and no names of other participants: whoever trusts it need not
        # trust it with more.
        permitted = x509.NameConstraints([x509.UniformResourceIdentifier(participant)], None)
        certificate = (
            _certificate(subject, subject, key.public_key(), days)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(permitted, critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, None)
        )
        write_new(folder / KEY, _pem_of(key), is_secret=True)
        write_new(folder / AUTHORITY, certificate.public_bytes(serialization.Encoding.PEM))
        return cls(participant, certificate, key)

    @classmethod
    def load(cls, folder: Path) -> Authority:
        """The authority in a folder."""
        what = "the folder of an authority, made by `australis identity new PARTICIPANT --authority`"
        text = read(folder / AUTHORITY, what)
        key = _key_of(folder / KEY, what)
        certificate = _parsed_certificate(folder / AUTHORITY, text)
        names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        if certificate.public_key() != key.public_key() or not names:
            raise ClusterError(Problem(str(folder), "its key is not that of its certificate", what))
        return cls(str(names[0].value), certificate, key)

    def sign(self, request: bytes, path: str, days: int = NODE_DAYS) -> bytes:
        """The certificate for a request, if that names a node of this participant."""
        found = _parsed_request(request, path)
        name = _named(found, path)
        if name.participant != self.participant:
            what = f"asks for {name}, and this is the authority of {self.participant}"
            raise ClusterError(Problem(path, what, f"a name that begins with {self.participant}/"))
        issuer = self.certificate.subject
        days = min(days, (self.certificate.not_valid_after_utc - datetime.now(UTC)).days)
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        public = self._key.public_key()
        certificate = (
            _certificate(_subject(str(name)), issuer, found.public_key(), days)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_alternative(name), critical=False)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
            .sign(self._key, None)
        )
        return certificate.public_bytes(serialization.Encoding.PEM)

    def admit(self, folder: Path, request: bytes, days: int = NODE_DAYS) -> None:
        """Sign the request of a node, and put what it needs into its folder."""
        certificate = self.sign(request, str(folder / REQUEST), days)
        own = self.certificate.public_bytes(serialization.Encoding.PEM)
        replace(folder / AUTHORITIES / f"{self.participant}.pem", own)
        replace(folder / CERTIFICATE, certificate)


def new_node(name: NodeName, folder: Path) -> bytes:
    """Make the key of a node in a folder, and a request for a certificate, which is returned."""
    key = Ed25519PrivateKey.generate()
    builder = x509.CertificateSigningRequestBuilder().subject_name(_subject(str(name)))
    request = builder.add_extension(_alternative(name), critical=False).sign(key, None)
    write_new(folder / KEY, _pem_of(key), is_secret=True)
    text = request.public_bytes(serialization.Encoding.PEM)
    write_new(folder / REQUEST, text)
    return text


def node_name_of_request(request: bytes, path: str) -> NodeName:
    """The name that a request asks for."""
    return _named(_parsed_request(request, path), path)


# --- parts


def _subject(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _alternative(name: NodeName) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName([x509.UniformResourceIdentifier(name.uri)])


def _certificate(subject: x509.Name, issuer: x509.Name, key: object, days: int) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)  # type: ignore[arg-type]
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLY)
        .not_valid_after(now + timedelta(days=days))
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem_of(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _key_of(path: Path, what: str) -> Ed25519PrivateKey:
    try:
        key = serialization.load_pem_private_key(read(path, what), None)
    except (ValueError, TypeError) as error:
        raise ClusterError(Problem(str(path), f"holds no private key: {error}", what)) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ClusterError(Problem(str(path), "is no Ed25519 key", what))
    return key


def _parsed_certificate(path: Path, text: bytes) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(text)
    except ValueError as error:
        raise ClusterError(Problem(str(path), f"holds no certificate: {error}", "a PEM file")) from error


def _parsed_request(text: bytes, path: str) -> x509.CertificateSigningRequest:
    expected = "request.pem, as `australis identity new` writes it"
    try:
        found = x509.load_pem_x509_csr(text)
        is_sound = found.is_signature_valid
    except (ValueError, InvalidSignature) as error:
        raise ClusterError(Problem(path, f"holds no request: {error}", expected)) from error
    if not is_sound:
        raise ClusterError(Problem(path, "is not signed by the key that it names", expected))
    return found


def _named(request: x509.CertificateSigningRequest, path: str) -> NodeName:
    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError) as error:
        raise ClusterError(Problem(path, "asks for no name", "one name of a node")) from error
    uris = names.get_values_for_type(x509.UniformResourceIdentifier)
    if len(uris) != 1 or len(list(names)) != 1:
        raise ClusterError(Problem(path, f"asks for {len(list(names))} names", "one name of a node"))
    return NodeName.of_uri(uris[0])


def digest_of(certificate: x509.Certificate) -> str:
    """The SHA-256 of a certificate, to be compared by eye."""
    return certificate.fingerprint(hashes.SHA256()).hex(":")
