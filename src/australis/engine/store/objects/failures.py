"""What an object store answers when it cannot do something: errors of files, with what to do about them."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

_TOLD = (
    (re.compile("NoSuchBucket"), errno.ENOENT, "there is no such bucket; create it first"),
    (
        re.compile("SignatureDoesNotMatch|InvalidAccessKeyId|ExpiredToken|InvalidToken|AuthorizationHeader"),
        errno.EACCES,
        "the credentials are not accepted: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN",
    ),
    (re.compile("AccessDenied|403 Forbidden"), errno.EACCES, "access denied"),
    (
        re.compile("instance metadata|credential", re.IGNORECASE),
        errno.EACCES,
        "no credentials found: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role of this machine",
    ),
    (
        re.compile("501 Not Implemented|NotImplemented"),
        errno.ENOTSUP,
        "the server does not support conditional put (If-None-Match)",
    ),
)
"""What the server's answers mean, and what to do."""


class StoreError(OSError):
    """A request to an object store that failed; its text says all there is to say."""

    def __str__(self) -> str:
        return str(self.args[1])


@contextmanager
def explained() -> Iterator[None]:
    """Raise errors of the library as those of files, with what they mean."""
    from obstore.exceptions import AlreadyExistsError, BaseError  # noqa: PLC0415

    try:
        yield
    except AlreadyExistsError as error:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
    except (BaseError, FileNotFoundError) as error:
        told = _meaning(str(error))
        if told is None and isinstance(error, FileNotFoundError):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
        raise StoreError(*(told or (errno.EIO, _short(str(error))))) from error


def _meaning(text: str) -> tuple[int, str] | None:
    """What an error is about, if it is one that its user can correct."""
    return next(((number, told) for pattern, number, told in _TOLD if pattern.search(text)), None)


def _short(text: str) -> str:
    """The first line of an error, without the page that the server sent.

    >>> _short("Generic S3 error: Error performing PUT http://h/b/k in 2s - HTTP error\\n\\nDebug source:")
    'Error performing PUT http://h/b/k in 2s - HTTP error'
    """
    return text.partition("\n")[0].removeprefix("Generic S3 error: ").partition(": <?xml")[0]
