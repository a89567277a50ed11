"""The granting side: runs the pieces of others behind outputs of this node, as far as their grants go.

What should run is kept in the root before it is attached, and compared with what is attached from time to
time, so that a crash at any moment leaves either. All work is done by one thread: a change of the network
takes a while, and connections must not wait for it.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import msgspec

from australis.algebra.network import QUARANTINE, Network
from australis.algebra.schema import Schema
from australis.cluster.grants.budget import Budget
from australis.cluster.grants.grant import Grant, Signed, Withdrawal, examined, read_signed
from australis.cluster.grants.piece import PREFIX, check, name_of, query_of
from australis.cluster.identity import NodeName, Seals
from australis.cluster.wire import KEPT_MOST, LETTER_MOST, Define, Keep, Refused
from australis.engine.calibrate import calibrate, sample
from australis.engine.observe import QualityReport, Statistics
from australis.engine.sinks import Kept
from australis.engine.threads import Thread, Threads
from australis.errors import AustralisError, ClusterError, Problem
from australis.policy.analysis import Hardware, analyse
from australis.policy.machines import ENCODE, Count, Name, Value, decoded

_log = logging.getLogger(__name__)
_query = lru_cache(maxsize=1024)(query_of)
NOTE = "pieces"
WITHDRAWALS = "withdrawals"
"""Under which topic letters with them come."""
WATCH_S = 5.0
"""How often pieces are compared with their limits, and with what runs."""
PIECES_MOST, JOBS_MOST, WITHDRAWALS_MOST = 1000, 2 * KEPT_MOST, 10_000
_TRIED, _RATE_S = 20_000, 10
"""The tuples by which the cost of a piece is measured before it runs, and over how many seconds rates are."""


class GuestNode(Protocol):
    """The part of a node that runs pieces."""

    def attach(self, network: Network, /, *, name: str, is_guest: bool, replaces: bool) -> object: ...

    def detach(self, name: str, /) -> None: ...

    def attached(self) -> Mapping[str, Network]: ...

    def failures(self) -> Mapping[str, AustralisError]: ...

    def output_schema(self, name: str, /) -> Schema | None: ...

    def note(self, name: str, /) -> str | None: ...

    def keep(self, name: str, text: str, /) -> None: ...

    def statistics(self) -> Statistics: ...

    def quality(self, window_s: int, /) -> QualityReport: ...

    def kept(self, output: str, /) -> Kept: ...


class Placed(Value, frozen=True):
    """A piece that should run here."""

    holder: Name
    """The node that reads it."""
    name: Name
    """The input into which it reads it."""
    version: Count
    output: Name
    """The output that it reads."""
    definition: str
    grant: Signed | None = None
    """None for a node of the same participant, which needs none."""
    stopped: str = ""
    """Why it does not run, until it is defined in another way or by another grant."""

    @property
    def key(self) -> tuple[str, str]:
        """Whose it is, and for what."""
        return self.holder, self.name

    @property
    def query(self) -> str:
        """Its name among the queries of this node, and that of its output."""
        return name_of(self.holder, self.name)

    @property
    def granted(self) -> Grant | None:
        """The grant, without its seal."""
        said = None if self.grant is None else self.grant.said
        return said if isinstance(said, Grant) else None


class _Memory(Value, frozen=True):
    """What the root keeps."""

    placed: tuple[Placed, ...] = ()
    withdrawals: tuple[Signed, ...] = ()


class _Letter(Value, frozen=True):
    """Withdrawals that other nodes of the participant should know."""

    withdrawals: tuple[Signed, ...]


@dataclass(frozen=True)
class PieceStatus:
    """How a piece of another node goes that runs here."""

    name: str
    """Of the query, and of its output."""
    holder: str
    """The node and the input that read it."""
    output: str
    definition: str
    grant: str
    """The id of the grant; empty if it needs none."""
    problem: str
    """Why it is stopped."""
    rate: float
    """Tuples that left it per second, lately."""
    cores: float
    """The part of a core that it used."""
    state: int
    """The bytes of its states, and of what waits for its reader."""


class PieceRefused(ClusterError):
    """A piece that is not run here, and why."""

    def __init__(self, code: Refused, why: str, expected: str = "") -> None:
        super().__init__(Problem("", why, expected))
        self.code = code


class _Use(NamedTuple):
    """What a piece has used up to a moment."""

    tuples: int
    nanoseconds: int
    state: int


class _Watched:
    """A piece that runs, as far as it was watched."""

    def __init__(self, grant: Grant | None, use: _Use) -> None:
        limits = None if grant is None else grant.limits
        self._rate = None if limits is None or limits.rate is None else Budget(limits.rate)
        self._cores = None if limits is None or limits.cores is None else Budget(limits.cores)
        self._limits, self._use = limits, use
        self.rate = self.cores = 0.0
        self.state = use.state

    def compare(self, use: _Use, seconds: float) -> str:
        """What is more than the grant admits, if anything."""
        tuples, cores = use.tuples - self._use.tuples, (use.nanoseconds - self._use.nanoseconds) / 1e9
        self.rate, self.cores, self.state, self._use = tuples / seconds, cores / seconds, use.state, use
        for budget, amount in ((self._rate, tuples), (self._cores, cores)):
            if budget is not None:
                budget.use(amount, seconds)
        limits = self._limits
        if limits is None:
            return ""
        if self._rate is not None and self._rate.is_overdrawn:
            return f"{self.rate:,.0f} tuples/s left it, and its grant admits {limits.rate:,.0f}"
        if self._cores is not None and self._cores.is_overdrawn:
            return f"it used {self.cores:.3g} of a core, and its grant admits {limits.cores:.3g}"
        if limits.state is not None and self.state > limits.state:
            return f"its state and what waits are {self.state:,} bytes, and its grant admits {limits.state:,}"
        return ""


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
        self._watched: dict[tuple[str, str], _Watched] = {}
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
            return [self._status(each, self._watched.get(key)) for key, each in found]

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
            wanted = _renewed(known, wanted)
        if wanted.stopped:
            raise PieceRefused(Refused.LIMIT, f"it was stopped: {wanted.stopped}")
        query = self._checked(wanted)
        self._check_offered(wanted, query)
        self._check_room(wanted)
        if wanted != known:
            self._check_output(known, query)
            if known is None or wanted.definition != known.definition:
                self._check_cost(wanted, query)
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

    def _checked(self, wanted: Placed) -> Network:
        """The query that a piece is, if its boxes make sense behind the output."""
        is_own = not self.is_piece(wanted.output) and wanted.output != QUARANTINE
        stream = self._node.output_schema(wanted.output) if is_own else None
        if stream is None:
            what = f"there is no output {wanted.output!r}"
            raise PieceRefused(Refused.NOT_OFFERED, what)
        try:
            return _query(wanted.definition, wanted.query, wanted.output, stream)
        except ClusterError as error:
            raise PieceRefused(Refused.PIECE, str(error)) from error

    def _check_offered(self, wanted: Placed, query: Network) -> None:
        try:
            check(query, wanted.definition, wanted.granted)
        except ClusterError as error:
            raise PieceRefused(Refused.PIECE, str(error)) from error

    def _check_room(self, wanted: Placed) -> None:
        others = [each for key, each in self._placed.items() if key != wanted.key]
        if len(others) >= PIECES_MOST or sum(each.holder == wanted.holder for each in others) >= KEPT_MOST:
            raise PieceRefused(Refused.TOO_MANY, "too many pieces run here")
        grant = wanted.granted
        if grant is None:
            return
        count = sum(each.granted is not None and each.granted.id == grant.id for each in others)
        if count >= grant.limits.pieces:
            what = f"{count} pieces of the grant run here, and it admits {grant.limits.pieces}"
            raise PieceRefused(Refused.LIMIT, what)

    def _check_output(self, known: Placed | None, query: Network) -> None:
        """Refuse a piece whose tuples would be others than those that wait for its reader."""
        before = None if known is None else self._node.output_schema(known.query)
        if before is not None and before != query.output_schema("out"):
            what = f"made ({before}) before, and would make ({query.output_schema('out')})"
            raise PieceRefused(Refused.PIECE, what, "an input of another name")

    def _check_cost(self, wanted: Placed, query: Network) -> None:
        """Refuse a piece that would cost more than its grant admits, by what is measured of its boxes."""
        grant = wanted.granted
        rate = self._node.quality(_RATE_S).outputs[wanted.output].tuples / _RATE_S
        if grant is None or grant.limits.cores is None or not rate:
            return
        try:
            drawn = sample(query, {}, {wanted.output: rate}, _TRIED)
            # The time of this thread: the node's trains run beside it.
            costs = calibrate(query, drawn, clock=time.thread_time_ns).costs
        except AustralisError as error:
            raise PieceRefused(Refused.PIECE, str(error)) from error
        loads = analyse(query, {wanted.output: rate}, costs, Hardware(1.0)).boxes.values()
        cores = sum(each.cores for each in loads)
        if cores > grant.limits.cores:
            what = f"it would use {cores:.3g} of a core at {rate:,.0f} tuples/s"
            raise PieceRefused(Refused.LIMIT, f"{what}, and its grant admits {grant.limits.cores:.3g}")

    # --- what runs

    def _run(self, wanted: Placed, query: Network) -> None:
        """Attach a piece, unless it runs as it should."""
        running = self._node.attached().get(wanted.query)
        if running == query:
            return
        self._node.attach(query, name=wanted.query, is_guest=True, replaces=running is not None)
        if running is None:
            with self._changed:
                self._watched[wanted.key] = _Watched(wanted.granted, _Use(0, 0, 0))
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
                self._run(each, self._checked(each))
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
                    self._watched[key] = _Watched(each.granted, use)
                continue
            why = watched.compare(use, seconds or self._watch_s)
            if each.query in failures:
                why = f"it failed: {failures[each.query]}"
            if why:
                self._stop(each, why)

    def _use(self, query: str, statistics: Statistics) -> _Use:
        boxes = [each for name, each in statistics.boxes.items() if name.startswith(f"{query}.")]
        state = sum(each.state_bytes for each in boxes) + self._node.kept(query).bytes
        return _Use(statistics.outputs[query].tuples, sum(each.nanoseconds for each in boxes), state)

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

    @staticmethod
    def _status(piece: Placed, watched: _Watched | None) -> PieceStatus:
        grant = piece.granted
        figures = (0.0, 0.0, 0) if watched is None else (watched.rate, watched.cores, watched.state)
        holder, name = f"{piece.holder}/{piece.name}", "" if grant is None else grant.id
        return PieceStatus(piece.query, holder, piece.output, piece.definition, name, piece.stopped, *figures)


def _renewed(known: Placed, wanted: Placed) -> Placed:
    """A piece that is defined again: the same one whatever its version, another one only if it is later."""
    version = max(known.version, wanted.version)
    is_same = (known.definition, known.output) == (wanted.definition, wanted.output)
    if not is_same and wanted.version <= known.version:
        raise PieceRefused(Refused.PIECE, f"a later version of it is known than {wanted.version}")
    serial = [0 if each.granted is None else each.granted.serial for each in (known, wanted)]
    if is_same and known.grant == wanted.grant:
        return msgspec.structs.replace(known, version=version)
    stopped = known.stopped if is_same and serial[1] <= serial[0] else ""
    return msgspec.structs.replace(wanted, version=version, stopped=stopped)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise PieceRefused(Refused.PIECE, "is no text") from error
