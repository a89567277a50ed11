"""The data source: which part of a node is meant, and what reads or writes it."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, DataSourceWriter
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from australis.algebra.schema import Schema, parse_schema
from australis.client import Client
from pyspark_australis.batch_read import HistoryReader, OutputReader
from pyspark_australis.options import SourceOptions, refused
from pyspark_australis.stream_read import OutputStreamReader
from pyspark_australis.writing import InputStreamWriter, InputWriter
from pyspark_australis.written import arrow_of


class AustralisSource(DataSource):
    """The outputs, the history and the inputs of a node."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(dict(options))
        self._options = SourceOptions.of(options)

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "australis"

    def schema(self) -> StructType:
        """The schema of what is read, as the node knows it, with `#ts` and `#seq`."""
        with self._options.client() as client:
            found = _schema_of(client, self._options)
        return from_arrow_schema(arrow_of(found))

    def reader(self, schema: StructType) -> DataSourceReader:
        """What reads an output or the history of a connection point, once."""
        if self._options.text("point") is not None:
            return HistoryReader(self._options, schema)
        return OutputReader(self._options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """What follows an output."""
        return OutputStreamReader(self._options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """What pushes a frame into an input."""
        _refuse_overwrite(overwrite)
        return InputWriter(self._options)

    def streamWriter(self, schema: StructType, overwrite: bool) -> InputStreamWriter:
        """What pushes the batches of a streaming query into an input."""
        _refuse_overwrite(overwrite)
        return InputStreamWriter(self._options)


def _schema_of(client: Client, options: SourceOptions) -> Schema:
    point = options.text("point")
    if point is None:
        return parse_schema(str(client.output(options.needed("output"))["schema"]))
    for each in client.points():
        if each["name"] == point:
            return parse_schema(str(each["schema"]))
    known = ", ".join(str(each["name"]) for each in client.points())
    raise refused("point", f"there is no connection point {point!r}", f"one of {known}")


def _refuse_overwrite(overwrite: bool) -> None:
    if overwrite:
        raise refused("mode", "overwrite would remove tuples that were pushed", "mode('append')")
