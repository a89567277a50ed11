"""The Spark types of attributes."""

from __future__ import annotations

from pyspark.sql import types as spark

from australis.algebra.types import DataType

_SPARK: dict[str, spark.DataType] = {
    "int": spark.IntegerType(),
    "long": spark.LongType(),
    "double": spark.DoubleType(),
    "string": spark.StringType(),
    "boolean": spark.BooleanType(),
    "timestamp": spark.TimestampType(),
    "null": spark.NullType(),
}


def spark_type(type_: DataType) -> spark.DataType:
    """The Spark type of an attribute's type.

    >>> from australis.algebra.types import decimal
    >>> spark_type(decimal(10, 2)).simpleString()
    'decimal(10,2)'
    """
    return spark.DecimalType(type_.precision, type_.scale) if type_.is_decimal else _SPARK[type_.name]
