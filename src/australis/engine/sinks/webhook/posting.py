"""One request of a webhook, signed, and what its answer means."""

from __future__ import annotations

import contextlib
import email.utils
import hashlib
import hmac
import time
from importlib.metadata import version

import httpx

from australis.errors import EngineError, Problem, TryLater

_PASSES = (408, 425, 429)
"""Refusals that pass; all others of the 400s do not."""
_SHOWN_BYTES = 200
_LATEST_S = 3600.0


class Refused(EngineError):
    """A request that the server will never take, as far as it says."""

    def __init__(self, problem: Problem, status: int = 0) -> None:
        super().__init__(problem)
        self.status = status


class Poster:
    """Posts to one URL, and follows no redirect: whoever is allowed is the one that is named."""

    def __init__(self, url: str, shown: str, secret: str, timeout_s: float) -> None:
        self._url, self._shown, self._secret = url, shown, secret.encode()
        # No proxies and no passwords of the environment: what is sent where is said in the address.
        self._client = httpx.Client(follow_redirects=False, timeout=timeout_s, trust_env=False)

    def post(self, body: bytes, content_type: str, key: str, output: str) -> None:
        """Post once; raises `TryLater` or `Refused` unless the server took it."""
        headers = {
            "Content-Type": content_type,
            "Idempotency-Key": key,
            "Australis-Output": output,
            "User-Agent": f"australis/{version('australis')}",
        }
        if self._secret:
            headers["Australis-Signature"] = signature(self._secret, body, int(time.time()))
        try:
            with self._client.stream("POST", self._url, content=body, headers=headers) as answer:
                said = next(answer.iter_raw(_SHOWN_BYTES), b"") if answer.status_code >= 300 else b""
        except httpx.HTTPError as error:
            what = f"cannot be reached: {str(error) or type(error).__name__}"
            raise TryLater(Problem(self._shown, what, "a server that answers")) from error
        self._judge(answer, said)

    def _judge(self, answer: httpx.Response, said: bytes) -> None:
        status = answer.status_code
        if 200 <= status < 300:
            return
        # On one line that can be printed: it goes into logs.
        words = " ".join(said.decode("utf-8", "replace").split())
        text = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in words)
        what = f"answers {status}{f': {text}' if text else ''}"
        if status in _PASSES or status >= 500:
            after_s = retry_after_s(answer.headers.get("retry-after"), time.time())
            raise TryLater(Problem(self._shown, what, "an answer of the 200s"), after_s)
        if 300 <= status < 400:
            what += f", a redirect to {answer.headers.get('location', 'nowhere')}"
            raise EngineError(Problem(self._shown, what, "the address that takes requests"))
        expected = "an answer of the 200s, or rejected=FILE to set such tuples aside"
        raise Refused(Problem(self._shown, what, expected), status)

    def close(self) -> None:
        self._client.close()


def signature(secret: bytes, body: bytes, at_s: int) -> str:
    """The signature of a body at a time, which a receiver computes as well: `t.body`, by HMAC-SHA-256.

    >>> signature(b"key", b"{}", 1)
    't=1,v1=1ba6b8171186efc613e8bcc0cbdab2748f24984d7c5a84faa2637afa0e40d224'
    """
    signed = hmac.new(secret, b"%d.%s" % (at_s, body), hashlib.sha256).hexdigest()
    return f"t={at_s},v1={signed}"


def retry_after_s(header: str | None, now_s: float) -> float:
    """The seconds that a server asks to wait, as a number or a date; an hour at most.

    >>> retry_after_s("7", 0), retry_after_s("Thu, 01 Jan 1970 00:00:09 GMT", 4), retry_after_s("soon", 0)
    (7.0, 5.0, 0.0)
    """
    if not header:
        return 0.0
    found = float(header) if header.strip().isdecimal() else None
    if found is None:
        # What is neither a number nor a date asks for nothing.
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            found = email.utils.parsedate_to_datetime(header).timestamp() - now_s
    return min(max(found or 0.0, 0.0), _LATEST_S)
