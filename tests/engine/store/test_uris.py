"""URIs of object stores: `s3://` and `s3a://` name one root, for pyarrow and for Spark, options and all."""

from __future__ import annotations

import pytest
from obstore.store import S3Store

from australis.engine.store.disk import disk_at
from australis.engine.store.objects import ObjectDisk
from australis.engine.store.root import Root
from australis.engine.store.uris import arrow_uri, join_uri, spark_uri
from australis.errors import EngineError

OPTIONS = "region=eu-west-1&endpoint_override=localhost%3A9000&scheme=http"


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
@pytest.mark.parametrize("options", ["", f"?{OPTIONS}"])
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_root_on_s3_has_a_name_for_each_side(scheme: str, options: str, slash: str) -> None:
    root = Root.of(f"{scheme}://bucket/my%20root{slash}{options}")
    assert root.uri_of("segments/x.parquet") == f"{scheme}://bucket/my%20root/segments/x.parquet{options}"
    assert root.spark_path("segments/x.parquet") == "s3a://bucket/my root/segments/x.parquet"
    assert arrow_uri(root.uri) == f"s3://bucket/my%20root{slash}{options}"


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_the_store_gets_the_options(scheme: str) -> None:
    disk = disk_at(f"{scheme}://bucket/my%20root?{OPTIONS}")
    assert isinstance(disk, ObjectDisk)
    store = disk._store
    assert isinstance(store, S3Store)
    assert (store.config["bucket"], str(store.prefix)) == ("bucket", "my root")
    assert (store.config["endpoint"], store.config["region"]) == ("http://localhost:9000", "eu-west-1")
    assert disk_at(f"{scheme}://bucket/my%20root?{OPTIONS}") is disk


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(EngineError, match="has the unknown option 'zone'; expected some of endpoint"):
        disk_at("s3://bucket/root?zone=1")


@pytest.mark.parametrize("name", ["s3://other/x.parquet?region=us-east-1", "s3a://other/x.parquet"])
def test_adopted_files_have_both_names_too(name: str) -> None:
    assert Root.of("s3://bucket/root").spark_path(name) == "s3a://other/x.parquet"


@pytest.mark.parametrize("name", ["plain", "with a space", "a?b&c=d", "a#b", "100%25", "a@b"])
def test_other_uris_stay_as_they_are(name: str) -> None:
    root = Root.of(f"/data/{name}")
    assert arrow_uri(root.uri) == root.uri
    assert spark_uri(root.uri) == f"file:///data/{name}"
    assert join_uri(root.uri, "x") == f"{root.uri}/x"


def test_what_spark_takes_for_a_pattern_is_marked() -> None:
    assert Root.of("s3://bucket/a{b}").spark_path("x") == r"s3a://bucket/a\{b\}/x"


@pytest.mark.parametrize("given", ["key:secret@bucket/root?region=x", "key:a/b@bucket", "key@bucket/root"])
def test_keys_in_an_address_are_refused_and_not_repeated(given: str) -> None:
    uri = f"s3://{given}"
    with pytest.raises(EngineError, match="has keys in its address; expected the keys in AWS_") as told:
        Root.of(uri)
    assert given not in str(told.value)
    with pytest.raises(EngineError, match="has keys in its address"):
        disk_at(uri)


def test_a_name_may_have_what_separates_keys() -> None:
    assert Root.of("s3://bucket/a@b?region=x@y").uri == "s3://bucket/a@b?region=x@y"
    assert Root.of("file:///a@b/c").uri == "file:///a@b/c"
