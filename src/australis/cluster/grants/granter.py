"""The granting side: runs the pieces of others behind outputs of this node, as far as their grants go.

What should run is kept in the root before it is attached, and compared with what is attached from time to
time, so that a crash at any moment leaves either. All work is done by one thread: a change of the network
takes a while, and connections must not wait for it.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from australis.algebra.network import Network
from australis.cluster.grants import admission
from australis.cluster.grants.admission import GuestNode
from australis.cluster.grants.grant import Grant, Signed, Withdrawal, examined, read_signed
from australis.cluster.grants.piece import PREFIX
from australis.cluster.grants.placed import PieceRefused, PieceStatus, Placed, renewed, status_of
from australis.cluster.grants.watched import Use, Watched
from australis.cluster.identity import NodeName, Seals
from australis.cluster.wire import KEPT_MOST, LETTER_MOST, Define, Keep, Refused
from australis.engine.observe import Statistics
from australis.engine.threads import Thread, Threads
from australis.errors import AustralisError, ClusterError, Problem
from australis.policy.machines import ENCODE, Value, decoded

_log = logging.getLogger(__name__)
NOTE = "pieces"
WITHDRAWALS = "withdrawals"
"""Under which topic letters with them come."""
WATCH_S = 5.0
"""How often pieces are compared with their limits, and with what runs."""
JOBS_MOST, WITHDRAWALS_MOST = 2 * KEPT_MOST, 10_000


class _Memory(Value, frozen=True):
    """What the root keeps."""

    placed: tuple[Placed, ...] = ()
    withdrawals: tuple[Signed, ...] = ()


class _Letter(Value, frozen=True):
    """Withdrawals that other nodes of the participant should know."""

    withdrawals: tuple[Signed, ...]


class Granter:
    """Pieces of others at a node; all methods may be called from any thread and do not wait."""

    def __init__(
        self,
        name: NodeName,
        authorities: Sequence[bytes],
        node: GuestNode,
        threads: Threads,
        *,
        told: Callable[[Mapping[str, str]], None] = lambda pieces: None,
        watch_s: float = WATCH_S,
    ) -> None:
        """`authorities` are the certificates that it trusts; `told` is given what runs after each change."""
        self._name, self._node, self._threads = name, node, threads
        self._authorities, self._seals = authorities, Seals(authorities)
        self._told, self._watch_s = told, watch_s
        self._changed: Any = threads.condition()
        self._jobs: deque[tuple[str, Callable[[], None]]] = deque()
        self._is_ended = False
        self._placed: dict[tuple[str, str], Placed] = {}
        self._withdrawals: dict[tuple[str, str], Signed] = {}
        self._watched: dict[tuple[str, str], Watched] = {}
        self._watched_ns: int | None = None
        """When pieces were compared with their limits last."""
        self._remember()
        self._thread: Thread = threads.start(self._work, "australis-pieces")

    # --- from other threads

    def define(
        self,
        holder: NodeName,
        said: Define,
        answer: Callable[[str, PieceRefused | None], None],
        is_wanted: Callable[[], bool],
    ) -> bool:
        """Run a piece, and answer with the output to read; whether there is room for the work."""

        def work() -> None:
            if not is_wanted():
                return
            try:
                found = self._define(holder, said)
            except PieceRefused as error:
                answer("", error)
            except Exception as error:
                # Its reader waits for an answer, whatever has failed, and asks again after this one.
                is_known = isinstance(error, AustralisError)
                _log.warning("no piece for %s: %s", holder, error, exc_info=not is_known)
                answer("", PieceRefused(Refused.PIECE, "it could not be placed"))
            else:
                answer(found, None)

        return self._do(work, str(holder))

    def keep(self, holder: NodeName, said: Keep, is_wanted: Callable[[], bool]) -> bool:
        """Run only these pieces of a node from now on; whether there is room for the work."""

        def work() -> None:
            gone = [key for key in self._placed if key[0] == str(holder) and key[1] not in said.inputs]
            if gone and is_wanted():
                self._drop(gone, "its reader wants it no more")

        return self._do(work, str(holder))

    def withdraw(self, given: Signed) -> None:
        """Heed a withdrawal of a grant of this participant from now on; durable when this returns."""
        said = given.said
        examined(given, Seals(self._authorities), self._threads.now_us(), "withdrawal")
        if not isinstance(said, Withdrawal) or said.granter != self._name.participant:
            what, expected = f"is of a grant of {said.granter}", f"one of {self._name.participant}"
            raise ClusterError(Problem("withdrawal", what, expected))
        with self._changed:
            known = self._withdrawals.get((said.granter, said.id))
            if known is not None and known.said.serial >= said.serial:
                return
            self._withdrawals[said.granter, said.id] = given
            self._write()
        self._do(self._heed)

    def hear(self, sender: NodeName, letter: bytes) -> bool:
        """Withdrawals that another node of the participant passes on; whether that makes sense."""
        found = decoded(_Letter, letter)
        if found is None or sender.participant != self._name.participant:
            return False

        def work() -> None:
            for each in found.withdrawals:
                self.withdraw(each)

        return self._do(work, str(sender))

    def letters(self) -> list[bytes]:
        """What another node of the participant should know."""
        with self._changed:
            known = [*self._withdrawals.values()]
        per_letter = max(1, LETTER_MOST // (2 * max((len(each.data) for each in known), default=1)))
        parts = [known[at : at + per_letter] for at in range(0, len(known), per_letter)]
        return [ENCODE(_Letter(tuple(part))) for part in parts]

    def is_piece(self, output: str) -> bool:
        """Whether an output is that of a piece, which only its holder may read."""
        return output.startswith(PREFIX)

    def status(self) -> list[PieceStatus]:
        """How all pieces go."""
        with self._changed:
            found = sorted(self._placed.items())
            return [status_of(each, self._watched.get(key)) for key, each in found]

    def close(self) -> None:
        """Do nothing more; pieces that run stay in the root."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        self._thread.join(10.0)

    # --- its thread

    def _do(self, job: Callable[[], None], sender: str = "") -> bool:
        """Have something done; not if as much is left to do for who asks."""
        with self._changed:
            if sum(each == sender for each, _ in self._jobs) >= JOBS_MOST:
                return False
            self._jobs.append((sender, job))
            self._changed.notify_all()
        return True

    def _work(self) -> None:
        next_ns = self._threads.ticks_ns()
        while True:
            with self._changed:
                while not self._is_ended and not self._jobs:
                    left_s = (next_ns - self._threads.ticks_ns()) / 1e9
                    if left_s <= 0:
                        break
                    self._changed.wait(left_s)
                if self._is_ended:
                    return
                _, job = self._jobs.popleft() if self._jobs else ("", None)
            if job is not None:
                self._guarded(job)
            if self._threads.ticks_ns() >= next_ns:
                self._guarded(self._look)
                next_ns = self._threads.ticks_ns() + int(self._watch_s * 1e9)

    def _guarded(self, step: Callable[[], None]) -> None:
        try:
            step()
        except AustralisError as error:
            if not self._is_ended:
                _log.warning("pieces of other nodes: %s", error)
        except Exception:
            _log.exception("pieces of other nodes failed in a way that nobody expected")

    def _look(self) -> None:
        """Let end what should, run what should, and compare what runs with its limits."""
        self._heed()
        self._reconcile()
        self._watch()

    # --- what should run

    def _define(self, holder: NodeName, said: Define) -> str:
        now = self._threads.now_us()
        grant = self._shown(holder, said, now)
        definition = _text(said.piece)
        key = (str(holder), said.input)
        known = self._placed.get(key)
        wanted = Placed(*key, said.version, said.output, definition, grant)
        if known is not None:
            wanted = renewed(known, wanted)
        if wanted.stopped:
            raise PieceRefused(Refused.LIMIT, f"it was stopped: {wanted.stopped}")
        query = admission.checked_query(self._node, wanted, self.is_piece)
        admission.check_offered(wanted, query)
        others = [each for each in self._placed.values() if each.key != key]
        admission.check_room(wanted, others)
        if wanted != known:
            admission.check_output(self._node, known, query)
            if known is None or wanted.definition != known.definition:
                admission.check_cost(self._node, wanted, query)
            self._put(wanted)
        try:
            self._run(wanted, query)
        except AustralisError as error:
            self._put(known, wanted.key)
            raise PieceRefused(Refused.PIECE, str(error)) from error
        return wanted.query

    def _shown(self, holder: NodeName, said: Define, now: int) -> Signed | None:
        """The grant that a holder shows, if it holds for what is wanted."""
        if holder.participant == self._name.participant and not said.grant:
            return None
        try:
            found = read_signed(said.grant, f"{self._name}/{said.output}")
            self._check_grant(found, now)
        except ClusterError as error:
            raise PieceRefused(Refused.GRANT, str(error)) from error
        grant = found.said
        assert isinstance(grant, Grant)
        if not grant.covers(str(holder), str(self._name), said.output):
            what = f"the grant is not for boxes of {holder} behind {said.output!r} of {self._name}"
            raise PieceRefused(Refused.GRANT, what)
        return found

    def _check_grant(self, given: Signed, now: int) -> None:
        """Refuse a grant that does not hold, or holds no more."""
        examined(given, self._seals, now, str(self._name))
        grant = given.said
        assert isinstance(grant, Grant)
        withdrawn = self._withdrawals.get((grant.granter, grant.id))
        if withdrawn is not None and isinstance(withdrawn.said, Withdrawal) and withdrawn.said.ends(grant):
            what = f"the grant was withdrawn at {withdrawn.said.withdrawn_at:%Y-%m-%d %H:%M} UTC"
            raise ClusterError(Problem(str(self._name), what, "a new one"))

    # --- what runs

    def _run(self, wanted: Placed, query: Network) -> None:
        """Attach a piece, unless it runs as it should."""
        running = self._node.attached().get(wanted.query)
        if running == query:
            return
        self._node.attach(query, name=wanted.query, is_guest=True, replaces=running is not None)
        if running is None:
            with self._changed:
                self._watched[wanted.key] = Watched(wanted.granted, Use(0, 0, 0))
        _log.info("%s has boxes behind %s: %s", wanted.holder, wanted.output, wanted.query)
        self._tell()

    def _reconcile(self) -> None:
        """Let run what should and does not, and end what runs and should not: as after a crash."""
        attached = self._node.attached()
        wanted = {each.query: each for each in self._placed.values() if not each.stopped}
        for name in attached:
            if name.startswith(PREFIX) and name not in wanted:
                self._end(name)
        for each in wanted.values():
            try:
                self._run(each, admission.checked_query(self._node, each, self.is_piece))
            except PieceRefused as error:
                # Its output is gone, or is another one; its reader hears of that when it asks again.
                _log.info("%s does not run: %s", each.query, error)
                self._end(each.query)

    def _heed(self) -> None:
        """End the pieces whose grants have ended or were withdrawn."""
        now, gone = self._threads.now_us(), {}
        for key, each in self._placed.items():
            if each.grant is not None:
                try:
                    self._check_grant(each.grant, now)
                except ClusterError as error:
                    gone[key] = error.problem.what
        for key, why in gone.items():
            self._drop([key], why)

    def _watch(self) -> None:
        """Compare what runs with its limits, and stop what takes more."""
        now_ns, before_ns = self._threads.ticks_ns(), self._watched_ns
        if all(each.stopped for each in self._placed.values()):
            # Statistics of a large network take a while.
            self._watched_ns = None
            return
        seconds = None if before_ns is None else max((now_ns - before_ns) / 1e9, 1e-3)
        statistics, self._watched_ns = self._node.statistics(), now_ns
        failures = self._node.failures()
        for key, each in [*self._placed.items()]:
            if each.stopped or each.query not in statistics.outputs:
                continue
            use = self._use(each.query, statistics)
            watched = self._watched.get(key)
            if watched is None:
                with self._changed:
                    self._watched[key] = Watched(each.granted, use)
                continue
            why = watched.compare(use, seconds or self._watch_s)
            if each.query in failures:
                why = f"it failed: {failures[each.query]}"
            if why:
                self._stop(each, why)

    def _use(self, query: str, statistics: Statistics) -> Use:
        boxes = [each for name, each in statistics.boxes.items() if name.startswith(f"{query}.")]
        state = sum(each.state_bytes for each in boxes) + self._node.kept(query).bytes
        return Use(statistics.outputs[query].tuples, sum(each.nanoseconds for each in boxes), state)

    def _stop(self, piece: Placed, why: str) -> None:
        """Run a piece no more until its holder wants another one in its place."""
        _log.warning("%s of %s is stopped: %s", piece.query, piece.holder, why)
        self._watched.pop(piece.key, None)
        self._put(msgspec.structs.replace(piece, stopped=why))
        self._end(piece.query)

    def _drop(self, keys: Sequence[tuple[str, str]], why: str) -> None:
        """Forget pieces, and end them."""
        found = [self._placed[key] for key in keys]
        with self._changed:
            for each in found:
                del self._placed[each.key]
                self._watched.pop(each.key, None)
            self._write()
        for each in found:
            _log.info("%s of %s ends: %s", each.query, each.holder, why)
            self._end(each.query)

    def _end(self, query: str) -> None:
        if query in self._node.attached():
            self._node.detach(query)
        self._tell()

    def _tell(self) -> None:
        found = {
            each.query: f"{each.holder}: behind {each.output}"
            for each in self._placed.values()
            if not each.stopped
        }
        self._told(found)

    # --- what the root keeps

    def _put(self, piece: Placed | None, key: tuple[str, str] | None = None) -> None:
        """Let a piece be what should run for a holder's input; without one, nothing should."""
        with self._changed:
            if piece is not None:
                known = self._placed.get(piece.key)
                if known is not None and known.grant != piece.grant:
                    # It is compared with other limits from now on.
                    self._watched.pop(piece.key, None)
                self._placed[piece.key] = piece
            elif key is not None:
                self._placed.pop(key, None)
            self._write()

    def _write(self) -> None:
        now = self._threads.now_us()
        known = {
            key: each
            for key, each in self._withdrawals.items()
            if isinstance(each.said, Withdrawal) and each.said.expires > now
        }
        self._withdrawals = dict([*known.items()][-WITHDRAWALS_MOST:])
        memory = _Memory(tuple(self._placed.values()), tuple(self._withdrawals.values()))
        self._node.keep(NOTE, ENCODE(memory).decode())

    def _remember(self) -> None:
        text = self._node.note(NOTE)
        found = _Memory() if text is None else decoded(_Memory, text.encode())
        if found is None:
            # Of a version that is not known: nothing is run that might not be meant.
            _log.error("what the root says of pieces is not understood; all of them are placed anew")
            return
        self._placed = {each.key: each for each in found.placed}
        self._withdrawals = {(each.said.granter, each.said.id): each for each in found.withdrawals}


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise PieceRefused(Refused.PIECE, "is no text") from error
