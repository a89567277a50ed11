"""Files and folders as sources: read, replayed, followed or adopted, and resumed where they stopped.

In: paths. Out: deliveries with positions.
"""

from australis.engine.sources.files.folder import FolderSource
from australis.engine.sources.files.one_file import FileSource

__all__ = [
    "FileSource",
    "FolderSource",
]
