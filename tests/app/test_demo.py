"""`australis demo`: what was hidden is found, whatever the seed, and a difference is reported."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.app.files import australis
from tests.service.running import running_service
from tests.waiting import until

from australis.algebra.network import Network
from australis.app.commands.demo import _keeps_page
from australis.app.demo import agreement
from australis.app.demo.agreement import engines_agree, results_agree
from australis.app.demo.network import Beacons, network
from australis.app.demo.page import Feed
from australis.app.demo.stream import BEACON, SCANNER, connections
from australis.service.settings import ServiceSettings


@pytest.mark.usefixtures("spark")
def test_the_intruders_are_found_on_spark() -> None:
    answer = australis("demo", "--tuples", "60000", "--rate", "200000/s", "--seed", "11")
    assert answer.exit_code == 0, answer.output
    assert "Found the scan by 203.0.113.66, the beacon from 10.4.1.77 to 198.51.100.23" in answer.stdout
    assert "The same query without Spark agrees on all" in answer.stdout
    assert "The reference, tuple at a time, agrees on all" in answer.stdout
    assert "delay p50" in answer.stdout


def test_a_rate_that_is_none() -> None:
    answer = australis("demo", "--rate", "fast")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "--rate: 'fast' is no rate; expected tuples per time" in answer.stderr


@pytest.mark.parametrize(
    ("wanted", "is_terminal", "variable", "as_json", "keeps"),
    [
        (None, True, "", False, True),
        (None, False, "", False, False),
        (None, True, "true", False, False),
        (None, True, "", True, False),
        (False, True, "", False, False),
        (True, False, "true", False, True),
    ],
)
def test_the_page_is_kept_open_only_for_people(
    wanted: bool | None,
    is_terminal: bool,
    variable: str,
    as_json: bool,
    keeps: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)
    monkeypatch.setenv("CI", variable)
    assert _keeps_page(wanted, as_json=as_json) is keeps


def test_the_page_shows_the_network_at_work() -> None:
    settings = ServiceSettings.model_validate({"node": {"runner": "light[1]"}})
    with running_service(settings) as client:
        feed = Feed(2003, 300_000)
        feed.start(str(client.base_url))
        try:
            until(lambda: client.get("/v1/network").status_code == 200)
            assert client.get("/v1/network").json()["network"]["connection_points"].keys() == {"recent"}
            until(lambda: bool(client.get("/v1/outputs/scans").json()["statistics"]["tuples"]))
        finally:
            feed.stop()
        (scan,) = {row["src"] for row in client.get("/v1/outputs/scans/tuples").json()}
        assert scan == SCANNER


def batches(count: int) -> list[pa.Table]:
    stream = connections(network().inputs["connections"].schema, 50_000, 1)
    return [stream.slice(20_000, count), stream.slice(20_000 + count, count)]


def test_the_same_seed_makes_the_same_stream() -> None:
    schema = network().inputs["connections"].schema
    assert connections(schema, 50_000, 5).equals(connections(schema, 50_000, 5))
    assert not connections(schema, 50_000, 5).equals(connections(schema, 50_000, 6))


def test_a_difference_between_the_engines_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = agreement._outputs

    def tampered(engine: str, *arguments: object) -> dict[str, pa.Table]:
        found = outputs(engine, *arguments)  # type: ignore[arg-type]
        return {**found, "tap_a": found["tap_a"].slice(1)} if engine == "reference" else found

    monkeypatch.setattr(agreement, "_outputs", tampered)
    assert engines_agree(network(), batches(500)).differences == ("tap_a",)


def test_a_result_that_is_missing_is_named() -> None:
    stream = connections(network().inputs["connections"].schema, 50_000, 1)
    found = agreement._outputs("kernels", network(), [stream])
    assert results_agree(network(), [stream], found).differences == ()
    found["scans"] = found["scans"].slice(1)
    assert results_agree(network(), [stream], found).differences == ("scans",)


def disordered(stream: pa.Table) -> pa.Table:
    """A log like a real one: written when connections end, up to a minute later; HTTPS is on another port."""
    begun = pc.cast(stream["time"], pa.int64()).to_numpy()
    ended = begun + np.random.default_rng(1).integers(0, 60_000_000, len(stream))
    ports = pc.if_else(pc.equal(stream["port"], 443), pa.scalar(8443, pa.int32()), stream["port"])
    place = stream.schema.get_field_index("port")
    return stream.set_column(place, stream.schema.field(place), ports).take(np.argsort(ended, kind="stable"))


def intruders(watching: Network, log: pa.Table) -> dict[str, set[str]]:
    found = agreement._outputs("kernels", watching, [log])
    return {output: {row["src"] for row in found[output].to_pylist()} for output in ("scans", "beacons")}


def test_the_query_adapts_to_another_log() -> None:
    log = disordered(connections(network().inputs["connections"].schema, 50_000, 1))
    assert intruders(network(), log) == {"scans": set(), "beacons": set()}
    beacons = Beacons(port=None, window="15 min", calls=15, deviation=0.1)
    assert intruders(network(slack="1 min", beacons=beacons), log) == {
        "scans": {SCANNER},
        "beacons": {BEACON},
    }
