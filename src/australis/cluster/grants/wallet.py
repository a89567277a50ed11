"""The grants that a node holds: it shows one when it wants boxes behind an output of another participant."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from australis.cluster.grants.grant import Grant, Signed, examined, fits, read_signed
from australis.cluster.identity import NodeName, Seals
from australis.errors import ClusterError, Problem

SUFFIX = ".grant"


@dataclass(frozen=True)
class HeldGrant:
    """A grant in a file, and what is wrong with it, if anything is."""

    file: str
    signed: Signed | None
    problem: str = ""

    @property
    def grant(self) -> Grant | None:
        """What it grants."""
        said = None if self.signed is None else self.signed.said
        return said if isinstance(said, Grant) else None


class Wallet:
    """Files with grants, and folders of them: they are looked at whenever one is needed, and read if changed.

    Its methods may be called from any thread.
    """

    def __init__(
        self, places: Sequence[Path], authorities: Sequence[bytes], now_us: Callable[[], int]
    ) -> None:
        """`authorities` are the certificates that the node trusts."""
        self._places, self._seals, self._now_us = tuple(places), Seals(authorities), now_us
        self._lock = threading.Lock()
        self._read: dict[Path, tuple[tuple[int, int], Signed]] = {}
        """What was read, with the time and the size of the file."""

    def held(self) -> list[HeldGrant]:
        """All grants that are there, sound or not."""
        with self._lock:
            return [self._held(file) for place in self._places for file in _files(place)]

    def find(self, holder: NodeName, node: NodeName, output: str, definition: str) -> bytes:
        """What lets a node put boxes behind an output of another one; a node of its own needs nothing."""
        if holder.participant == node.participant:
            return b""
        path = f"{node}/{output}"
        held = self.held()
        meant = [
            each
            for each in held
            if each.grant is not None and each.grant.covers(str(holder), str(node), output)
        ]
        kinds = [str(each["box"]) for each in json.loads(definition)["before"]]
        sound = [each for each in meant if not each.problem and each.signed and _offers(each, kinds)]
        if not sound:
            raise ClusterError(Problem(path, _why(held, meant, kinds), "a grant in cluster.grants"))
        best = max(sound, key=lambda each: each.grant.expires if each.grant else 0)
        assert best.signed is not None
        return best.signed.data

    def _held(self, file: Path) -> HeldGrant:
        found: Signed | None = None
        try:
            found = self._signed(file)
            examined(found, self._seals, self._now_us(), str(file))
        except OSError as error:
            return HeldGrant(str(file), None, f"cannot be read: {error.strerror}")
        except ClusterError as error:
            return HeldGrant(str(file), found, error.problem.what)
        return HeldGrant(str(file), found)

    def _signed(self, file: Path) -> Signed:
        """What is in a file, which is read again once it has changed."""
        state = file.stat()
        key = state.st_mtime_ns, state.st_size
        known = self._read.get(file)
        if known is None or known[0] != key:
            known = self._read[file] = key, read_signed(file.read_bytes(), str(file))
        return known[1]


def _files(place: Path) -> Iterable[Path]:
    return sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else [place]


def _offers(held: HeldGrant, kinds: Iterable[str]) -> bool:
    grant = held.grant
    return grant is not None and all(fits(grant.boxes, kind) for kind in kinds)


def _why(held: Sequence[HeldGrant], meant: Sequence[HeldGrant], kinds: Sequence[str]) -> str:
    """Why no grant is shown."""
    if not held:
        return "boxes cannot run there: this node holds no grants"
    if not meant:
        return f"boxes cannot run there: none of the {len(held)} grants here is for it"
    reasons = [each.problem or f"does not offer {', '.join(kinds)}" for each in meant]
    return f"boxes cannot run there: {Path(meant[0].file).name}: {reasons[0]}"
