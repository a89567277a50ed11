"""What certificates say, for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

from australis.cluster.identity.authority import digest_of
from australis.cluster.identity.files import AUTHORITIES, AUTHORITY, CERTIFICATE, read
from australis.errors import ClusterError, Problem


@dataclass(frozen=True)
class Certificate:
    """A certificate: whose it is, who signed it, and from when to when it is valid."""

    file: str
    name: str
    signed_by: str
    valid_from: datetime
    valid_until: datetime
    sha256: str

    def as_dict(self) -> dict[str, str]:
        """The fields as texts."""
        return {name: str(value) for name, value in asdict(self).items()}


def certificates_in(path: Path) -> list[Certificate]:
    """The certificates of a file, or of the folder of a node or an authority."""
    if not path.is_dir():
        return _of(path)
    trusted = sorted((path / AUTHORITIES).glob("*.pem"))
    files = [each for each in (path / CERTIFICATE, path / AUTHORITY, *trusted) if each.exists()]
    if not files:
        expected = "a folder that `australis identity new` has made, with a certificate"
        raise ClusterError(Problem(str(path), "holds no certificate", expected))
    return [found for file in files for found in _of(file)]


def _of(path: Path) -> list[Certificate]:
    try:
        found = x509.load_pem_x509_certificates(read(path, "a PEM file with certificates"))
    except ValueError as error:
        raise ClusterError(Problem(str(path), f"holds no certificate: {error}", "a PEM file")) from error
    return [_read(path, each) for each in found]


def _read(path: Path, found: x509.Certificate) -> Certificate:
    return Certificate(
        str(path),
        _common_name(found.subject),
        _common_name(found.issuer),
        found.not_valid_before_utc,
        found.not_valid_after_utc,
        digest_of(found),
    )


def _common_name(name: x509.Name) -> str:
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else name.rfc4514_string()
