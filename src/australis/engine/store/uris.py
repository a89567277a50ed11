"""URIs of files as pyarrow and Spark expect them: `s3://` or `s3a://`, with or without options."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from australis.errors import EngineError, Problem

_S3 = ("s3", "s3a", "s3n")


def is_s3(uri: str) -> bool:
    """Whether a URI is that of an S3 object store.

    >>> is_s3("s3a://bucket/root"), is_s3("file:///root")
    (True, False)
    """
    return uri.partition("://")[0] in _S3


def refuse_keys(uri: str) -> str:
    """Refuse an address that contains keys, which would be in logs, messages and files; returns others.

    >>> refuse_keys("s3://bucket/root")
    's3://bucket/root'
    """
    scheme, _, rest = uri.partition("://")
    place = rest.partition("?")[0]
    # A secret may contain slashes; the name of a bucket contains no colon.
    if is_s3(uri) and any(sign in place.partition("/")[0] for sign in "@:"):
        expected = "the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        raise EngineError(Problem(f"{scheme}://...", "has keys in its address", expected))
    return uri


def arrow_uri(uri: str) -> str:
    """A URI as pyarrow takes it, including options.

    >>> arrow_uri("s3a://bucket/root?region=eu-west-1")
    's3://bucket/root?region=eu-west-1'
    """
    return _with_scheme(uri, "s3")


def spark_uri(uri: str) -> str:
    """A URI as Spark takes it: without options, which are in Spark's own settings, and with nothing encoded.

    >>> spark_uri("s3://bucket/my%20root?region=eu-west-1")
    's3a://bucket/my root'
    """
    return unquote(_with_scheme(uri, "s3a").partition("?")[0])


def join_uri(uri: str, name: str) -> str:
    """The URI of a file below another URI, whose options stay at the end.

    >>> join_uri("s3://bucket/root?region=eu-west-1", "segments/x.parquet")
    's3://bucket/root/segments/x.parquet?region=eu-west-1'
    """
    place, mark, options = uri.partition("?")
    return f"{posixpath.join(place, name)}{mark}{options}"


def _with_scheme(uri: str, s3: str) -> str:
    scheme, mark, rest = uri.partition("://")
    return f"{s3 if scheme in _S3 else scheme}{mark}{rest}"
