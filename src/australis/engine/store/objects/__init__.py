"""Roots in S3 object stores, by obstore; it is loaded when there is one.

In: addresses as pyarrow has them, `s3://bucket/path?region=...&endpoint_override=...`; credentials from the
usual variables of AWS, a role of the machine, or the address. Out: disks.
"""

from australis.engine.store.objects.addresses import object_disk, open_object
from australis.engine.store.objects.failures import StoreError
from australis.engine.store.objects.object_disk import ObjectDisk

__all__ = ["ObjectDisk", "StoreError", "object_disk", "open_object"]
