"""Listens: sockets and certificates, or one clear error that says what is in the way."""

from __future__ import annotations

import errno
import socket
import ssl

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.settings import ServiceSettings, TlsSettings


def listen(settings: ServiceSettings) -> socket.socket:
    """The socket of the HTTP API, bound."""
    host, port = settings.place
    try:
        (family, kind, _, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise _refused(
            "listen", f"{host} is no address: {error.strerror}", "an address of this machine"
        ) from None
    found = socket.socket(family, kind)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(1024)
    except OSError as error:
        found.close()
        hint = (
            "another port, or end what listens there"
            if error.errno == errno.EADDRINUSE
            else "another address"
        )
        raise _refused("listen", f"cannot listen on {host}:{port}: {error.strerror}", hint) from None
    found.setblocking(False)
    return found


def check_certificate(tls: TlsSettings) -> None:
    """Refuse a certificate that cannot be served."""
    if tls.certificate is None and tls.key is None:
        return
    if tls.certificate is None or tls.key is None:
        raise _refused("tls", "has only one of certificate and key", "both, as PEM files")
    for name, path in (("certificate", tls.certificate), ("key", tls.key)):
        try:
            path.read_bytes()
        except OSError as error:
            raise _refused(f"tls.{name}", f"{path} cannot be read: {error.strerror}", "a PEM file") from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.certificate, tls.key)
    except (ssl.SSLError, ValueError) as error:
        what = f"{tls.certificate} and {tls.key} do not make a certificate: {error}"
        raise _refused(
            "tls", what, "a PEM certificate and its own private key, without a passphrase"
        ) from None


def _refused(path: str, what: str, expected: str) -> ServiceError:
    return ServiceError(ErrorCode.INVALID_REQUEST, Problem(path, what, expected))
