"""Files and folders as sources: read, replayed, followed or adopted, and resumed where they stopped.

Paths come in; deliveries with positions go out.
"""

from australis.engine.sources.files.folder import FolderSource
from australis.engine.sources.files.one_file import FileSource

__all__ = [
    "FileSource",
    "FolderSource",
]
