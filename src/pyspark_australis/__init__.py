"""Spark's data source `australis`: reads the outputs and the history of a node, and writes into its inputs.

Spark finds it by its name, `pyspark_australis`, in the Python of the driver: nothing is registered.
"""

from pyspark_australis.source import AustralisSource as DefaultSource

__all__ = ["DefaultSource"]
