"""A sub-room is entered by its front door: others import what its package lists in `__all__`, and no more."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import australis

SOURCES = Path(australis.__file__).parents[1]
MODULES = {
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SOURCES.glob("australis/**/*.py"))
}
PACKAGES = [name for name, path in MODULES.items() if path.name == "__init__.py"]
SUB_ROOMS = {name for name in PACKAGES if name.count(".") > 1}
LAZY = [name for name in PACKAGES if "lazy_exports(" in MODULES[name].read_text()]


class Import(NamedTuple):
    """A name of a module, or all of it, that another module imports."""

    importer: str
    line: int
    module: str
    name: str = ""

    @property
    def target(self) -> str:
        """The module that is imported, or has the name."""
        whole = f"{self.module}.{self.name}"
        return whole if whole in MODULES else self.module

    @property
    def entered(self) -> str | None:
        """The outermost sub-room that contains the target and not the importer."""
        parts = self.target.split(".")
        around = (".".join(parts[:length]) for length in range(3, len(parts) + 1))
        return next((room for room in around if room in SUB_ROOMS and not is_in(self.importer, room)), None)

    @property
    def is_by_the_door(self) -> bool:
        room = self.entered
        return room in (None, self.target) or (self.module == room and self.name in exports(room))

    def __str__(self) -> str:
        what = f"{self.name} of {self.module}" if self.name else self.module
        return f"{self.importer}, line {self.line}: {what}, past the door of {self.entered}"


def is_in(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def tree(module: str) -> ast.Module:
    """Parsed anew: were the trees of all modules kept, each collection of garbage would look through them."""
    return ast.parse(MODULES[module].read_text())


@cache
def exports(package: str) -> tuple[str, ...]:
    """The names in the `__all__` of a package."""
    for node in tree(package).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tuple(ast.literal_eval(node.value))
    return ()


def imports(module: str, within: ast.AST | None = None) -> Iterator[Import]:
    """What a module imports of this house: by a statement or by a string, and for types, too."""
    for node in ast.walk(within or tree(module)):
        match node:
            case ast.ImportFrom(module=str(source), names=names, level=0):
                yield from (Import(module, node.lineno, source, each.name) for each in names)
            case ast.Import(names=names):
                yield from (Import(module, node.lineno, each.name) for each in names)
            case ast.Call(
                func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(source)), *_]
            ):
                yield Import(module, node.lineno, source)
            case ast.ImportFrom():
                raise AssertionError(f"{module}, line {node.lineno}: say whole names in imports")


def test_sub_rooms_are_entered_by_their_front_doors() -> None:
    every = (each for module in MODULES for each in imports(module))
    past = [each for each in every if not each.is_by_the_door]
    assert [str(each) for each in past] == []


@pytest.mark.parametrize(
    ("importer", "module", "name"),
    [
        ("app.commands.check", "app.checking.capacity", "Answer"),
        ("app.checking.capacity", "policy.shed.flow", "Flow"),
        ("policy.adapt", "policy.route", "optimum"),
        ("sim.route.run", "sim.route.compiled.layout", "Arrays"),
        ("plan.spread", "algebra.expr.parsing", "Syntax"),
        ("engine.train.commit", "engine.ledger.queues", "Queues"),
        ("app.running.on_node", "engine.sources.files", "FileSource"),
    ],
)
def test_a_name_past_a_door_is_seen(importer: str, module: str, name: str) -> None:
    found = Import(f"australis.{importer}", 1, f"australis.{module}", name)
    assert not found.is_by_the_door


@pytest.mark.parametrize("package", [name for name in PACKAGES if exports(name)])
def test_a_front_door_has_what_it_lists(package: str) -> None:
    door = importlib.import_module(package)
    assert [name for name in exports(package) if not hasattr(door, name)] == []


@pytest.mark.parametrize("package", LAZY)
def test_a_lazy_door_opens_to_what_mypy_sees(package: str) -> None:
    (typed,) = (node for node in tree(package).body if isinstance(node, ast.If))
    told = {each.name: each for block in typed.body for each in imports(package, block)}
    at_once = {each.name for block in tree(package).body for each in imports(package, block)}
    assert sorted({*told, *at_once} & {*exports(package)}) == sorted(exports(package))
    assert not {*told} - {*exports(package)}
    door = importlib.import_module(package)
    for name, each in told.items():
        assert getattr(door, name) is getattr(importlib.import_module(each.module), name)
        # Whoever imports a module puts it in the place of a name of the door.
        assert (each.target == f"{package}.{name}") == (f"{package}.{name}" in MODULES), f"{name} is a module"


def test_dir_lists_what_a_lazy_door_exports_before_it_is_loaded() -> None:
    script = "import sys, australis; print('Node' in dir(australis), 'australis.engine.node' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
