"""The documentation is correct: examples print what it shows, on every engine; files are current."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from australis.algebra.boxes import BOXES
from australis.algebra.builder import NetworkBuilder
from australis.algebra.form.form import load, loads
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.user_functions import register_aggregate
from australis.errors import KernelError
from australis.kernels import PipelineRun

ROOT = Path(__file__).resolve().parents[1]


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_script", ROOT / "scripts" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_script"] = module
    spec.loader.exec_module(module)
    return module


docs = _script()
EXAMPLES = [
    pytest.param(page, index, id=f"{page.stem}-{index}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    for index in range(len(docs.examples(page.read_text())))
]


def test_every_box_has_an_example() -> None:
    shown = set(re.findall(r"(?:\{|\n +)box: (\w+)", (ROOT / "docs" / "boxes.md").read_text()))
    assert shown == {kind for kind, box in BOXES.items() if not box.system}


@pytest.mark.parametrize(("page", "index"), EXAMPLES)
@pytest.mark.parametrize("engine", ["reference", "kernels"])
def test_an_example_gives_what_its_page_shows(page: Path, index: int, engine: str) -> None:
    text = page.read_text()
    fences = [f for f in docs._FENCE.finditer(text) if f["info"].startswith("csv out=")]
    examples = docs.examples(text)
    before = sum(len(example.shown) for example in examples[:index])
    example = examples[index]
    if not example.shown:
        assert loads(example.network, ".yaml").outputs
        return
    found = docs.outputs(example, engine)
    shown = [fence["body"] for fence in fences[before : before + len(example.shown)]]
    assert [found[place] for place in example.shown] == shown


def test_what_is_generated_is_current() -> None:
    assert [path.name for path, _ in docs.out_of_date()] == []


def test_the_code_of_the_readme_builds_the_network_of_the_example() -> None:
    block = next(
        f["body"] for f in docs._FENCE.finditer((ROOT / "README.md").read_text()) if f["info"] == "python"
    )
    scope: dict[str, object] = {}
    exec(block, scope)
    built, example = scope["network"], load(ROOT / "examples" / "soldiers.yaml")
    assert isinstance(built, Network)
    assert [node.box for node in built.boxes.values()] == [node.box for node in example.boxes.values()]


def test_the_vans_of_the_readme_are_a_network() -> None:
    block = next(
        f["body"] for f in docs._FENCE.finditer((ROOT / "README.md").read_text()) if f["info"] == "yaml"
    )
    assert set(loads(block, ".yaml").outputs) == {"alarms", "averages"}


def test_the_query_that_is_compared_with_structured_streaming_is_a_network() -> None:
    page = (ROOT / "docs" / "from-structured-streaming.md").read_text()
    theirs, ours = (f["body"] for f in docs._FENCE.finditer(page) if f["info"] == "python")
    assert "readStream" in theirs
    scope: dict[str, object] = {}
    exec(ours, scope)
    builder = scope["net"]
    assert isinstance(builder, NetworkBuilder)
    names = builder.build().output_schema("averages").names
    assert tuple(names) == ("at", "van", "average", "reports")


def test_the_commands_of_the_readme_print_what_it_shows() -> None:
    block = next(
        f["body"] for f in docs._FENCE.finditer((ROOT / "README.md").read_text()) if f["info"] == "console"
    )
    Reader(ROOT).follow("console", block)


LONG_S = 120
"""After this time, what a page waits for does not happen."""


class Reader:
    """Follows a page in a folder from top to bottom, and notes what the page shows and what is printed.

    A `terminal` block keeps running; the next one interrupts it by Ctrl-C first.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        self._terminal: subprocess.Popen[str] | None = None
        self._stderr = ""
        self.followed: Counter[str] = Counter()
        """How many blocks of each kind."""

    def follow(self, info: str, body: str) -> None:
        """Do what a block says, and check what it shows; blocks that are only to be read do nothing."""
        kind, _, name = info.partition(" ")
        way, _, file = name.partition("=")
        steps = {
            "console": self._print,
            "bash": self._type,
            "bash terminal": self._open,
            "text stderr": self._warn,
        }
        if way == "file":
            (self._folder / file).write_text(body)
        elif way == "edit":
            self._edit(self._folder / file, body)
        elif step := steps.get(info):
            step(body)
        else:
            return
        self.followed[info if info in steps else f"{kind} {way}"] += 1

    def _print(self, block: str) -> None:
        """Compare what commands print; beside a run, repeat them until it has come so far."""
        end = time.monotonic() + LONG_S
        while (found := self._printed(block)) != block and self._terminal and time.monotonic() < end:
            assert self._terminal.poll() is None, "the run in the other terminal has ended"
            time.sleep(0.2)
        assert found == block

    def _printed(self, block: str) -> str:
        """The commands of a block with what they print, and their errors if they fail."""
        found = ""
        for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
            done = self._run(command)
            found += f"$ {command}\n{done.stdout}{done.stderr if done.returncode else ''}"
        return found

    def _type(self, commands: str) -> None:
        done = self._run(commands)
        assert done.returncode == 0, done.stderr

    def _run(self, commands: str) -> subprocess.CompletedProcess[str]:
        bash = ["bash", "-e", "-c", commands]
        done = subprocess.run(
            bash,
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONG_S,
        )
        self._stderr = done.stderr
        return done

    def _warn(self, block: str) -> None:
        """What is shown of standard error is there, after the last commands."""
        assert set(block.splitlines()) <= set(self._stderr.splitlines())

    def _edit(self, path: Path, section: str) -> None:
        """Replace a section of a YAML file, or add it."""
        key = section.partition("\n")[0]
        others = re.sub(rf"^{key}\n(?:[ \n].*\n?)*", "", path.read_text(), flags=re.MULTILINE)
        path.write_text(others + section)

    def _open(self, command: str) -> None:
        if self._terminal:
            assert self.interrupt() == 130
        self._terminal = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._wait_for_node()

    def _wait_for_node(self) -> None:
        """Wait until the run can be reached by other commands."""
        end = time.monotonic() + LONG_S
        while not list(self._folder.glob("*/control.json")):
            assert self._terminal
            assert self._terminal.poll() is None, self._terminal.communicate()[1]
            assert time.monotonic() < end, "the run has not started"
            time.sleep(0.1)

    def interrupt(self) -> int | None:
        """Press Ctrl-C in the terminal of the run, and wait for its end; None if there is none."""
        if self._terminal is None:
            return None
        if self._terminal.poll() is None:
            os.killpg(self._terminal.pid, signal.SIGINT)
        self._terminal.communicate(timeout=LONG_S)
        return self._terminal.returncode


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path)
    yield reader
    assert reader.interrupt() in {None, 130}


@pytest.mark.parametrize(
    ("page", "blocks"),
    [
        (
            "tutorial",
            {
                "csv file": 1,
                "yaml file": 1,
                "yaml edit": 2,
                "console": 6,
                "text stderr": 1,
                "bash": 5,
                "bash terminal": 2,
            },
        ),
        ("functions", {"python file": 1, "csv file": 1, "yaml file": 1, "console": 2}),
    ],
)
def test_a_page_can_be_followed_from_top_to_bottom(reader: Reader, page: str, blocks: dict[str, int]) -> None:
    for fence in docs._FENCE.finditer((ROOT / "docs" / f"{page}.md").read_text()):
        reader.follow(fence["info"], fence["body"])
    assert dict(reader.followed) == blocks


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
        place = page.parent / target if target else page
        assert place.exists(), f"there is no {target}"
        assert not anchor or anchor in anchors(place), f"{place.name} has no heading #{anchor}"


def anchors(page: Path) -> set[str]:
    """The names under which links reach the headings of a page."""
    prose = docs._FENCE.sub("", page.read_text())
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ["engine", "history"])
def test_the_code_of_a_page_prints_what_it_shows(capsys: pytest.CaptureFixture[str], page: str) -> None:
    fences = list(docs._FENCE.finditer((ROOT / "docs" / f"{page}.md").read_text()))
    code = next(index for index, fence in enumerate(fences) if fence["info"] == "python")
    exec(fences[code]["body"], {})
    assert capsys.readouterr().out.strip() == fences[code + 1]["body"].strip()


@pytest.mark.parametrize(
    ("state", "message"),
    [({1, 2}, "`docs:kept` made a bad state: Object of type set is not JSON serializable"), ((1, 2), None)],
)
def test_the_rule_about_states_is_as_the_page_says(state: object, message: str | None) -> None:
    """A state comes back as JSON keeps it, and what JSON does not know is refused by name."""
    seen: list[object] = []

    def more(kept: object, value: int) -> object:
        seen.append(kept)
        return state

    register_aggregate(
        "docs:kept", init=lambda: None, incr=more, final=lambda _: 0, takes=("int",), returns="int"
    )
    net = NetworkBuilder("n")
    calls = {"kept": "`docs:kept`(x)"}
    net.input("s", "x int").aggregate(calls, size=3, order=Order("Tup#")).output("out")
    run = PipelineRun(net.build())
    rows = pa.table({"x": pa.array([1], pa.int32())})
    if message:
        with pytest.raises(KernelError, match=re.escape(message)):
            run.push("s", rows, 0)
        return
    run.push("s", rows, 0)
    run.push("s", rows, 1)
    assert seen == [None, [1, 2]]
