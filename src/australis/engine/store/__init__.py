"""Files below a storage root: segments of tuples, states of boxes, and what is decoded of them.

Arrow tables and states come in; immutable files go out. Driver and workers share the root and nothing else.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.store.cache import Cache
    from australis.engine.store.home import CATALOG, FolderHome, Home, catalog_folder, home_of
    from australis.engine.store.root import HISTORY, PLANS, SEGMENTS, STATES, Root, unwritable
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
    from australis.engine.store.states import encode_state, read_state
    from australis.engine.store.zones import Lookup, Position, Zone, zones_of
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "cache": ("Cache",),
            "home": (
                "CATALOG",
                "FolderHome",
                "Home",
                "catalog_folder",
                "home_of",
            ),
            "root": (
                "HISTORY",
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
                "encode_state",
                "read_state",
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
    "HISTORY",
    "PLANS",
    "SEGMENTS",
    "SEQ",
    "STATES",
    "TIE",
    "Cache",
    "FolderHome",
    "Home",
    "Lookup",
    "Position",
    "Root",
    "Segment",
    "Zone",
    "adopt",
    "catalog_folder",
    "check_segment",
    "described",
    "encode",
    "encode_run",
    "encode_segment",
    "encode_state",
    "home_of",
    "merged",
    "publish",
    "publish_rest",
    "read_metadata",
    "read_segment",
    "read_state",
    "run_name",
    "run_schema",
    "staged",
    "stamped",
    "unwritable",
    "write_arrivals",
    "write_segment",
    "zones_of",
]
