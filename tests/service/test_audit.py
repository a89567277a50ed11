"""The audit log: what a full disk does to it, and what callers cannot do to it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from australis.service.access import AuditLog


@pytest.fixture
def audit(tmp_path: Path) -> AuditLog:
    return AuditLog(tmp_path / "audit.jsonl", size_most=1 << 20, files_most=2)


def paths(audit: AuditLog) -> list[str]:
    return [each["path"] for each in audit.latest(10)]


def test_a_line_that_a_full_disk_has_cut_spoils_no_other(
    audit: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit.note({"path": "/before"})
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:10]))
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        audit.note({"path": "/cut"})
    monkeypatch.undo()
    audit.note({"path": "/after"})
    assert paths(audit) == ["/after", "/before"]


def test_a_log_that_cannot_be_continued_goes_on_in_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = AuditLog(tmp_path / "audit.jsonl", size_most=1, files_most=2)
    audit.note({"path": "/first"})

    def full(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        audit.note({"path": "/lost"})
    # Whatever is opened now must not get the number of the log, and its lines.
    other = os.open(tmp_path / "other", os.O_RDWR | os.O_CREAT)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        audit.note({"path": "/lost"})
    monkeypatch.undo()
    audit.note({"path": "/second"})
    os.close(other)
    assert (tmp_path / "other").read_bytes() == b""
    assert paths(audit) == ["/second", "/first"]


def test_no_text_of_a_caller_is_a_line_of_its_own_or_cannot_be_noted(audit: AuditLog) -> None:
    strange = '/x\n{"path": "/forged"}\n\u2028\ud800'
    audit.note({"path": strange})
    assert paths(audit) == [strange]
