"""Bodies: tuples in the forms of HTTP.

In: JSON, JSON lines, CSV and Arrow that are posted; tables that are asked for. Out: tables in the types of an
input, with the rows that do not fit; the same forms, piece by piece.
"""

from australis.service.http.bodies.decoding import MEDIA_TYPES as POSTED
from australis.service.http.bodies.decoding import Decoded, decode, places
from australis.service.http.bodies.forms import MEDIA_TYPES, TUPLES, Form, encoded, streamed

__all__ = ["MEDIA_TYPES", "POSTED", "TUPLES", "Decoded", "Form", "decode", "encoded", "places", "streamed"]
