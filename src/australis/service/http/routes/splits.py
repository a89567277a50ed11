"""Boxes that run as several copies on the node."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from australis.algebra.network import PATH_PATTERN
from australis.engine import SplitChange as Changed
from australis.errors import ErrorCode
from australis.service.host import SplitWanted, compare_split, compare_unsplit, start_split, start_unsplit
from australis.service.http.context import Operator, TheHost, Viewer, audited
from australis.service.http.errors import documented
from australis.service.http.waiting import finished

router = APIRouter(prefix="/v1/splits", tags=["splits"])
BoxId = Annotated[str, Path(pattern=f"^{PATH_PATTERN}$", max_length=1000)]
DryRun = Annotated[bool, Query(description="Only say what would change")]


class SplitRequest(BaseModel, extra="forbid", strict=True):
    """Into how many copies, and by what tuples are divided among them."""

    into: int = Field(2, ge=2, le=64)
    by: list[Annotated[str, Field(max_length=1000)]] = Field([], max_length=100)
    any_order: bool = False


class BoxSplit(BaseModel):
    """A box that runs as copies."""

    box: str
    into: int
    by: list[str]
    any_order: bool


class SplitList(BaseModel):
    """Every box that runs as copies."""

    splits: list[BoxSplit]


class SplitChange(BaseModel):
    """What a split or its undoing has changed, or would change."""

    box: str
    copies: list[str]
    added: list[str]
    removed: list[str]
    same: str
    """How far its stream equals what it was."""
    lines: list[str]
    applied: bool


@router.get("", responses=documented(ErrorCode.CONFLICT))
def every(host: TheHost, caller: Viewer) -> SplitList:
    """The boxes that run as copies, in the order in which they were split."""
    found = host.deployed.splits().values()
    return SplitList(
        splits=[
            BoxSplit(box=each.box, into=each.into, by=list(each.by), any_order=each.any_order)
            for each in found
        ]
    )


@router.put("/{box}", responses=documented(ErrorCode.CONFLICT))
def put(
    host: TheHost,
    caller: Operator,
    box: BoxId,
    given: SplitRequest,
    request: Request,
    dry_run: DryRun = False,
) -> SplitChange:
    """Run a box as several copies, each with its share of the tuples and of the state.

    The same split again changes nothing; another one of the box is refused.
    """
    wanted = SplitWanted(box, given.into, tuple(given.by), any_order=given.any_order)
    if dry_run:
        return _change(compare_split(host, wanted), applied=False)
    operation = start_split(host, wanted, caller)
    audited(request, operation=operation.id)
    return _change(finished(host, operation), applied=True)


@router.delete("/{box}", responses=documented(ErrorCode.CONFLICT))
def remove(
    host: TheHost, caller: Operator, box: BoxId, request: Request, dry_run: DryRun = False
) -> SplitChange:
    """Run a box as one again, with the states of its copies; one that is whole stays so."""
    if dry_run:
        return _change(compare_unsplit(host, box), applied=False)
    operation = start_unsplit(host, box, caller)
    audited(request, operation=operation.id)
    return _change(finished(host, operation), applied=True)


def _change(found: Changed, *, applied: bool) -> SplitChange:
    return SplitChange(**found.as_dict(), lines=list(found.lines()), applied=applied)
