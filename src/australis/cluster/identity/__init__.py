"""Identities: the names of nodes, and the certificates that prove them to each other.

In: names, folders with PEM files. Out: keys, requests and certificates, TLS contexts in which both sides must
show a certificate, seals on what nodes say of themselves. A participant's authority can sign names of that
participant only.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.cluster.identity.authority import Authority, new_node, node_name_of_request
    from australis.cluster.identity.credentials import Credentials, peer_of
    from australis.cluster.identity.names import NodeName, check_participant
    from australis.cluster.identity.seals import Seal, Seals
    from australis.cluster.identity.showing import Certificate, certificates_in
else:
    # Names of nodes are read where nothing is signed: cryptography takes its time.
    __getattr__ = lazy_exports(
        __name__,
        {
            "authority": ("Authority", "new_node", "node_name_of_request"),
            "credentials": ("Credentials", "peer_of"),
            "names": ("NodeName", "check_participant"),
            "seals": ("Seal", "Seals"),
            "showing": ("Certificate", "certificates_in"),
        },
    )

__all__ = [
    "Authority",
    "Certificate",
    "Credentials",
    "NodeName",
    "Seal",
    "Seals",
    "certificates_in",
    "check_participant",
    "new_node",
    "node_name_of_request",
    "peer_of",
]
