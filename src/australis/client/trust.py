"""What is wrong with TLS to a node, where another attempt would end in the same way."""

from __future__ import annotations

import ssl

from australis.client.place import CA, Place
from australis.errors import ErrorCode, Problem, ServiceError


def check_trust(place: Place, error: BaseException) -> None:
    """Raise if a connection failed since the other side is not trusted, or speaks no TLS."""
    cause = _tls_error(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        what = f"is not trusted: {cause.verify_message}"
        expected = f"ca=FILE with the certificate of its authority, or ${CA}, and the name that it is for"
    elif cause is not None and cause.reason == "WRONG_VERSION_NUMBER":
        what, expected = "speaks no TLS", "http://, if it is on this machine, or a node with a certificate"
    else:
        return
    raise ServiceError(ErrorCode.INVALID_REQUEST, Problem(place.url, what, expected)) from None


def _tls_error(error: BaseException | None) -> ssl.SSLError | None:
    """The error of TLS that another one stems from."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error
