"""Tuples that come in: durable when the call returns, with a receipt."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from australis.engine.files import Rejected
from australis.engine.ingest import Busy, KeyReused
from australis.engine.ledger import Key, Receipt
from australis.errors import EngineError, ErrorCode, ServiceError
from australis.service.host.host import Host
from australis.service.tracing import NOT_TRACED, Span


def push(
    host: Host,
    name: str,
    table: pa.Table,
    *,
    rejected: Sequence[Rejected] = (),
    key: Key | None = None,
    position: tuple[str, int] | None = None,
    wait_s: float = 5.0,
    within: Span = NOT_TRACED,
) -> Receipt:
    """Push tuples to an input of the network that runs; what came of them, once they are durable.

    In traces it is a part of the call `within`.
    """
    node = host.deployed
    try:
        with host.traces.push(within, name) as traced:
            receipt = node.admit(name, table, rejected=rejected, key=key, position=position, wait_s=wait_s)
            traced.stored(receipt)
            return receipt
    except Busy as error:
        raise ServiceError(ErrorCode.TOO_MANY, error.problem, error.retry_after_s) from None
    except KeyReused as error:
        raise ServiceError(ErrorCode.KEY_REUSED, error.problem) from None
    except EngineError as error:
        if host.running is None:
            host.deployed  # noqa: B018, it says why the node takes nothing
        raise ServiceError(ErrorCode.INVALID_TUPLES, error.problem) from None
