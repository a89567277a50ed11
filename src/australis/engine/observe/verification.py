"""Verification of a root that no node has open: its files against its catalogue, and whether they match.

Nothing on the root is changed, and no node can open it meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from australis.engine.clock import wall_clock
from australis.engine.ledger import (
    ALL,
    COPIES,
    StateFile,
    Survey,
    disagreement,
    has_copies,
    known_catalog,
    missing_catalog,
    missing_identity,
    missing_journal,
    restored_catalog,
    survey,
)
from australis.engine.sinks import check_written
from australis.engine.store import (
    CATALOG,
    HISTORY,
    IDENTITY,
    OWNER,
    SEGMENTS,
    STATES,
    FolderHome,
    Owner,
    Root,
    Segment,
    SharedLock,
    Trash,
    catalog_folder,
    check_segment,
    check_state,
    check_tuples,
    read_owner,
)
from australis.errors import AustralisError, EngineError, Problem

Progress = Callable[[int, int], None]
"""Called with how many files are done, and how many there are."""
_RESTORE = "the catalogue as it was; restore root and catalogue from one copy"


@dataclass(frozen=True)
class Verification:
    """The contents of a root, and what is wrong with it."""

    root: str
    catalog: str
    version: int = 0
    """The version of the catalogue."""
    epoch: int = 0
    """How often the root was opened; 0 for a root of an older version of Australis."""
    commits: int = 0
    is_closed: bool = True
    """Whether the last node stopped in order."""
    files: int = 0
    """The files that the catalogue names, including adopted ones."""
    bytes: int = 0
    tuples: int = 0
    orphans: tuple[str, ...] = ()
    """Files that the catalogue does not know: left by a crash, moved to the trash at the next start."""
    orphan_bytes: int = 0
    trash: int = 0
    trash_bytes: int = 0
    findings: tuple[Problem, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "findings": [each.as_dict() for each in self.findings]}


def verify(
    root: str | Path,
    *,
    catalog: str | Path | None = None,
    quick: bool = False,
    heard: Progress = lambda done, files: None,
) -> Verification:
    """Check a root that no node has open; `quick` reads only sizes and footers."""
    place = Root.of(root)
    if has_copies(place):
        return _verify_copied(place, catalog, quick=quick, heard=heard)
    folder = catalog_folder(place, catalog)
    if not place.exists(OWNER):
        # Messages name the folder as the user does.
        known_catalog(folder if catalog is not None or "://" in str(root) else Path(root))
    with _held(place, folder):
        return _Verifier(place, folder, quick=quick, heard=heard).run()


def _verify_copied(root: Root, catalog: str | Path | None, *, quick: bool, heard: Progress) -> Verification:
    """Check a root by the copies of its catalogue that it has: they are all that counts."""
    place = root.uri_of(COPIES)
    folder = () if catalog is None else (Path(catalog),)
    with _held(root, *folder), ExitStack() as stack:
        try:
            restored = stack.enter_context(restored_catalog(root))
        except EngineError as error:
            return Verification(root.uri, place, is_closed=_is_closed(root), findings=(error.problem,))
        return _Verifier(root, restored, place=place, quick=quick, heard=heard).run()


def _is_closed(root: Root) -> bool:
    owner = read_owner(root)
    return owner is None or not owner.is_open


def empty_trash(root: str | Path, *, catalog: str | Path | None = None) -> int:
    """Delete the trash of a root that no node has open; returns how many files."""
    place = Root.of(root)
    folder = () if catalog is None and has_copies(place) else (catalog_folder(place, catalog),)
    with _held(place, *folder):
        return Trash(place, wall_clock).empty()


@contextmanager
def _held(root: Root, *folders: Path) -> Iterator[None]:
    """Keep nodes out of a root and its catalogue."""
    every = (*folders, *([root.local] if root.local else []))
    with ExitStack() as stack:
        for each in dict.fromkeys(folder.resolve() for folder in every):
            stack.enter_context(closing(SharedLock(each)))
        yield


class _Verifier:
    """One check of a root."""

    def __init__(
        self, root: Root, folder: Path, *, place: str | None = None, quick: bool, heard: Progress
    ) -> None:
        """With a `place`, the folder has what was restored from there."""
        self._root, self._folder, self._quick, self._heard = root, folder, quick, heard
        self._place, self._is_restored = place or str(folder / CATALOG), place is not None
        self._findings: list[Problem] = []

    def run(self) -> Verification:
        owner = self._owner()
        home = FolderHome(self._folder)
        if owner is None or home.has_catalog():
            known_catalog(self._folder)
        else:
            return self._broken(owner, missing_catalog(self._root.uri, self._place, owner))
        if not home.has_catalog():
            return self._broken(owner, Problem(self._place, "is empty", _RESTORE))
        lacks_journal = not self._is_restored and owner is not None and owner.is_open
        if owner is not None and lacks_journal and home.lacks_journal(owner.epoch):
            self._findings.append(missing_journal(self._place, owner))
        try:
            known = survey(self._folder)
        except EngineError as error:
            return self._broken(owner, error.problem)
        self._check_catalog(owner, known)
        self._check_files(known)
        self._check_positions(known)
        return self._report(owner, known)

    def _owner(self) -> Owner | None:
        try:
            return read_owner(self._root)
        except EngineError as error:
            self._findings.append(error.problem)
            return None

    # --- the catalogue

    def _check_catalog(self, owner: Owner | None, known: Survey) -> None:
        found = (Problem(self._place, f"is damaged: {each}", _RESTORE) for each in known.damages)
        self._findings += found
        identity = self._root.known_identity()
        if identity is None and known.known.root is not None:
            self._findings.append(missing_identity(self._root.uri_of(IDENTITY), known.known.root))
        elif identity is not None:
            wrong = disagreement(self._root.uri, identity, owner, known.known)
            self._findings += [] if wrong is None else [wrong]

    # --- files

    def _check_files(self, known: Survey) -> None:
        checks = [
            *(partial(self._check_segment, each) for each in known.segments),
            *(partial(self._check_state, each) for each in known.states),
        ]
        for done, check in enumerate(checks):
            self._heard(done, len(checks))
            try:
                check()
            except EngineError as error:
                self._findings.append(error.problem)
        self._heard(len(checks), len(checks))

    def _check_segment(self, segment: Segment) -> None:
        if self._quick:
            check_segment(self._root, segment)
        else:
            check_tuples(self._root, segment)

    def _check_state(self, state: StateFile) -> None:
        check_state(self._root, state.name, state.bytes, whole=not self._quick)

    # --- positions

    def _check_positions(self, known: Survey) -> None:
        """Check that nothing is beyond the log, and that outputs and files are as consumers left them."""
        for segment in known.segments:
            self._check_number(segment.name, "ends", segment.end, known.log_end, _RESTORE)
        for superbox, head in known.heads:
            self._check_number(superbox, "has come", head, known.log_end, _RESTORE)
        outputs = self._outputs(known)
        for each in known.consumers:
            path, expected = f"{each.name} of {each.output}", "a consumer within the log; forget it"
            if each.seq != ALL:
                # What is discarded counts as read, also what is yet to come.
                forget = f"{expected} (australis forget)"
                self._check_number(path, "has read", each.seq, known.log_end, forget)
            if outputs is not None and each.output not in outputs:
                self._findings.append(Problem(path, "reads an output that is not there", "australis forget"))
            wrong = check_written(each.name, each.position)
            self._findings += [] if wrong is None else [wrong]

    def _outputs(self, known: Survey) -> frozenset[str] | None:
        try:
            return known.outputs()
        except AustralisError as error:
            what = f"its network cannot be read: {error}"
            expected = "--functions FILE.py, if it names functions of yours"
            self._findings.append(Problem(self._place, what, expected))
            return None

    def _check_number(self, path: str, does: str, number: int, log_end: int, expected: str) -> None:
        if not 0 <= number <= log_end:
            what = f"{does} up to number {number:,}, and the log ends at {log_end:,}"
            self._findings.append(Problem(path, what, expected))

    # --- the result

    def _report(self, owner: Owner | None, known: Survey) -> Verification:
        names = known.names()
        there = (name for kind in (SEGMENTS, STATES, HISTORY) for name in self._root.names(kind))
        orphans = tuple(sorted(name for name in there if name not in names))
        trash = Trash(self._root, wall_clock)
        return Verification(
            self._root.uri,
            self._place,
            known.version,
            known.known.epoch,
            known.known.commits,
            owner is None or not owner.is_open,
            len(known.segments) + len(known.states),
            sum(each.bytes for each in known.segments) + sum(each.bytes for each in known.states),
            sum(each.rows for each in known.segments),
            orphans,
            sum(map(self._root.size, orphans)),
            len(trash.names()),
            trash.bytes(),
            tuple(self._findings),
        )

    def _broken(self, owner: Owner | None, problem: Problem) -> Verification:
        """The result without a readable catalogue."""
        findings = (*self._findings, problem)
        is_closed = owner is None or not owner.is_open
        return Verification(self._root.uri, self._place, is_closed=is_closed, findings=findings)
