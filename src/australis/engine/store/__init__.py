"""Files below a storage root: segments of tuples, states of boxes, and a cache of decoded ones.

In: Arrow tables and states. Out: immutable files. Driver and workers share the root and nothing else.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.store.cache import Cache
    from australis.engine.store.checks import check_state, check_tuples
    from australis.engine.store.home import (
        CATALOG,
        CLOSED,
        FolderHome,
        Held,
        Home,
        catalog_folder,
        hold,
        home_of,
    )
    from australis.engine.store.lock import SharedLock
    from australis.engine.store.owner import (
        OWNER,
        WITHOUT_OWNER,
        Owner,
        read_owner,
        this_process,
        write_owner,
    )
    from australis.engine.store.root import HISTORY, IDENTITY, PLANS, SEGMENTS, STATES, Root, unwritable
    from australis.engine.store.runs import (
        described,
        encode_run,
        publish,
        publish_rest,
        run_name,
        run_schema,
        stamped,
    )
    from australis.engine.store.segments import (
        SEQ,
        TIE,
        Segment,
        adopt,
        check_segment,
        encode,
        encode_segment,
        merged,
        read_metadata,
        read_segment,
        staged,
        write_arrivals,
        write_segment,
    )
    from australis.engine.store.states import (
        check_state_file,
        encode_layer,
        encode_state,
        is_layer,
        read_layer,
        read_state,
        read_states,
    )
    from australis.engine.store.trash import GRACE_S, TRASH, Trash
    from australis.engine.store.zones import Lookup, Position, Zone, zones_of
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "cache": ("Cache",),
            "checks": (
                "check_state",
                "check_tuples",
            ),
            "home": (
                "CATALOG",
                "CLOSED",
                "FolderHome",
                "Held",
                "Home",
                "catalog_folder",
                "hold",
                "home_of",
            ),
            "lock": ("SharedLock",),
            "owner": (
                "OWNER",
                "WITHOUT_OWNER",
                "Owner",
                "read_owner",
                "this_process",
                "write_owner",
            ),
            "root": (
                "HISTORY",
                "IDENTITY",
                "PLANS",
                "SEGMENTS",
                "STATES",
                "Root",
                "unwritable",
            ),
            "runs": (
                "described",
                "encode_run",
                "publish",
                "publish_rest",
                "run_name",
                "run_schema",
                "stamped",
            ),
            "segments": (
                "SEQ",
                "TIE",
                "Segment",
                "adopt",
                "check_segment",
                "encode",
                "encode_segment",
                "merged",
                "read_metadata",
                "read_segment",
                "staged",
                "write_arrivals",
                "write_segment",
            ),
            "states": (
                "check_state_file",
                "encode_layer",
                "encode_layer",
                "encode_state",
                "is_layer",
                "read_layer",
                "read_state",
                "read_states",
            ),
            "trash": (
                "GRACE_S",
                "TRASH",
                "Trash",
            ),
            "zones": (
                "Lookup",
                "Position",
                "Zone",
                "zones_of",
            ),
        },
    )

__all__ = [
    "CATALOG",
    "CLOSED",
    "GRACE_S",
    "HISTORY",
    "IDENTITY",
    "OWNER",
    "PLANS",
    "SEGMENTS",
    "SEQ",
    "STATES",
    "TIE",
    "TRASH",
    "WITHOUT_OWNER",
    "Cache",
    "FolderHome",
    "Held",
    "Home",
    "Lookup",
    "Owner",
    "Position",
    "Root",
    "Segment",
    "SharedLock",
    "Trash",
    "Zone",
    "adopt",
    "catalog_folder",
    "check_segment",
    "check_state",
    "check_state_file",
    "check_tuples",
    "described",
    "encode",
    "encode_layer",
    "encode_run",
    "encode_segment",
    "encode_state",
    "hold",
    "home_of",
    "is_layer",
    "merged",
    "publish",
    "publish_rest",
    "read_layer",
    "read_metadata",
    "read_owner",
    "read_segment",
    "read_state",
    "read_states",
    "run_name",
    "run_schema",
    "staged",
    "stamped",
    "this_process",
    "unwritable",
    "write_arrivals",
    "write_owner",
    "write_segment",
    "zones_of",
]
