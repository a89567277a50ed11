"""Feeds: the sources and sinks that the service itself runs."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel

from australis.errors import ErrorCode
from australis.service.feeds import Direction, FeedState, FeedStatus
from australis.service.http.context import Operator, TheHost, Viewer
from australis.service.http.errors import documented

router = APIRouter(prefix="/v1/feeds", tags=["feeds"])


class Feed(BaseModel):
    """How a feed goes."""

    name: str
    direction: Direction
    address: str
    """Where tuples come from or go to, as it is declared: without secrets."""
    state: FeedState
    since: datetime
    problem: str | None
    """What failed last, while it waits or has failed."""
    position: str | None
    """How far it has come: a source's own words, or the number after an output's last tuple."""
    tuples: int
    """Tuples since the service started."""
    per_s: float
    restarts: int
    """How often it was tried again since the service started."""


class FeedList(BaseModel):
    """All feeds, in the order in which they are declared."""

    feeds: list[Feed]


@router.get("", responses=documented())
def read(host: TheHost, caller: Viewer) -> FeedList:
    """How the declared sources and sinks go."""
    return FeedList(feeds=[_model(status) for status in host.feeds.statuses()])


@router.post("/{direction}/{name}/restart", responses=documented(ErrorCode.NOT_FOUND))
def restart(host: TheHost, caller: Operator, direction: Direction, name: str) -> Feed:
    """Start a feed anew, also one that was paused, has ended or failed; it continues where it was."""
    return _model(host.feeds.restart(direction, name))


@router.post("/{direction}/{name}/pause", responses=documented(ErrorCode.NOT_FOUND))
def pause(host: TheHost, caller: Operator, direction: Direction, name: str) -> Feed:
    """End a feed until it is restarted, or the service is."""
    return _model(host.feeds.pause(direction, name))


def _model(status: FeedStatus) -> Feed:
    return Feed.model_validate(vars(status))
