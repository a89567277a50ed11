"""Settings: what counts of a file, the environment, assignments and options; and the published texts."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from australis.errors import AlgebraError
from australis.service.access import Access
from australis.service.fanout import Fanout
from australis.service.host import Host
from australis.service.http import create_app, openapi_text
from australis.service.settings import (
    FILE,
    ServiceSettings,
    default_text,
    read_settings,
    settings_schema,
    variable_of,
)
from australis.service.settings.reading import setting_names

DOCS = Path(__file__).parents[2] / "docs"


def test_the_later_place_counts(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("listen: 127.0.0.1:1\nnode: {partitions: 3, train: 10, root: a}\n")
    environment = {"AUSTRALIS_SERVICE_NODE_PARTITIONS": "4", "AUSTRALIS_SERVICE_NODE_ROOT": "b"}
    found = read_settings(
        environment=environment,
        assigned=["node.root=c", "feeds.inputs.cars=cars.csv"],
        options={"listen": "127.0.0.1:2"},
        folder=tmp_path,
    )
    assert (found.listen, found.node.partitions, found.node.train, found.node.root) == (
        "127.0.0.1:2",
        4,
        10,
        "c",
    )
    assert found.feeds.inputs == {"cars": "cars.csv"}


def test_a_file_by_name_must_be_there(tmp_path: Path) -> None:
    assert read_settings(environment={}, folder=tmp_path) == ServiceSettings()
    with pytest.raises(AlgebraError, match="cannot be read"):
        read_settings(tmp_path / "gone.yaml", environment={})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nod: {}", r"nod .*is unknown \(perhaps 'node'\)"),
        ("node: {runer: light}", r"node\.runer .*is unknown \(perhaps 'runner'\)"),
        ("node: {partitions: none}", r"node\.partitions .*is 'none'; expected a valid integer"),
        ("node: {partitions: 0}", r"node\.partitions .*is 0"),
        ("access: {anonymous: king}", r"access\.anonymous .*'viewer', 'operator' or 'owner'"),
        ("- a", "is no mapping"),
        ("a: [", "is no YAML"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(AlgebraError, match=message) as refused:
        read_settings(tmp_path / "s.yaml", environment={})
    assert "s.yaml" in str(refused.value)


def test_unknown_variables_and_assignments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AlgebraError, match=r"AUSTRALIS_SERVICE_LISEN.*perhaps 'AUSTRALIS_SERVICE_LISTEN'"):
        read_settings(environment={"AUSTRALIS_SERVICE_LISEN": "x"}, folder=tmp_path)
    with pytest.raises(AlgebraError, match=r"node\.rot \(--set\).*perhaps 'root'"):
        read_settings(environment={}, assigned=["node.rot=x"], folder=tmp_path)
    with pytest.raises(AlgebraError, match="has no value"):
        read_settings(environment={}, assigned=["node.root"], folder=tmp_path)


def test_every_setting_has_a_variable_of_its_own() -> None:
    names = list(setting_names())
    assert len({variable_of(name) for name in names}) == len(names)


def test_the_defaults_are_those_of_the_model(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(default_text())
    assert read_settings(environment={}, folder=tmp_path) == ServiceSettings()
    # A section of which everything is commented out is empty.
    written = {name: value for name, value in yaml.safe_load(default_text()).items() if value is not None}
    jsonschema.validate(written, json.loads(settings_schema()))
    missing = [name for name in setting_names() if f"{name.rpartition('.')[2]}:" not in default_text()]
    assert missing == []


@pytest.mark.parametrize(
    ("name", "made"), [("australis.yaml", default_text), ("settings.schema.json", settings_schema)]
)
def test_the_published_texts_are_current(name: str, made: object) -> None:
    assert callable(made)
    assert (DOCS / name).read_text() == made(), "make docs"


def test_the_published_description_is_current() -> None:
    settings = ServiceSettings()
    fanout = Fanout(lambda: None, settings.outputs)
    app = create_app(Host(settings.node), Access(settings), settings, fanout)
    assert (DOCS / "openapi.json").read_text() == openapi_text(app), "make docs"
