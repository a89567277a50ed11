"""How Changes is drawn at random: what would be a function and an entry of MAKERS in `random_networks.py`."""

from __future__ import annotations

from tests.conformance.random_networks import Draft, Made, groups, one_of
from tests.example_box.value import Changes


def make_changes(draft: Draft) -> Made:
    source = draft.any_stream()
    schema = draft.streams[source]
    by = groups(draft.random, schema) or schema.names[:1]
    on = one_of(draft.random, schema, lambda f: f.name not in by)
    return None if on is None else (Changes(on, by), [source])
