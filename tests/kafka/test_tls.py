"""A broker that speaks TLS and asks for a password: what clients need is in a file, and the secret is not."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from tests.kafka.broker import Broker, missing
from tests.kafka.messages import produce

from australis.algebra.schema import parse_schema
from australis.engine.sources import SignalWaiter, parse_source
from australis.errors import EngineError

_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_USER = 'username="ada" password="only-for-tests" user_ada="only-for-tests"'


@pytest.mark.timeout(900)
def test_tls_and_a_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if (why := missing()) is not None:
        pytest.skip(why)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    broker = Broker(
        tmp_path / "broker",
        server_settings(authority, tmp_path),
        protocol="SASL_SSL",
        client={**settings(tmp_path), "sasl.password": "only-for-tests"},
    )
    try:
        broker.start()
        broker.create("secret")
        produce(broker, "secret", [{"value": b'{"n": 7}'}])
        file = tmp_path / "client.properties"
        lines = {**settings(tmp_path), "sasl.password": "${AUSTRALIS_KAFKA_PASSWORD}"}
        file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        text = f"kafka:secret?servers={broker.servers}&properties={file}&patience=1 s"
        source = parse_source("secret", text, parse_schema("n int"))
        monkeypatch.setenv("AUSTRALIS_KAFKA_PASSWORD", "wrong")
        with pytest.raises(EngineError) as error:
            list(source.start(lambda id: None, SignalWaiter()).deliveries())
        assert "wrong" not in str(error.value)
        monkeypatch.setenv("AUSTRALIS_KAFKA_PASSWORD", "only-for-tests")
        (found,) = source.start(lambda id: None, SignalWaiter()).deliveries()
        assert found.content.to_pylist() == [{"n": 7}]
    finally:
        broker.stop()


def settings(folder: Path) -> dict[str, str]:
    return {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(folder / "ca.pem"),
        "sasl.mechanism": "PLAIN",
        "sasl.username": "ada",
    }


def server_settings(authority: trustme.CA, folder: Path) -> dict[str, str]:
    issued = authority.issue_cert("127.0.0.1")
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    store = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    store += b"".join(blob.bytes() for blob in issued.cert_chain_pems)
    (folder / "server.pem").write_bytes(store)
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "server.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": f"{_LOGIN} {_USER};",
    }
