"""The old place of `australis.algebra.expr.literals`, until `engine.spark.columns` imports the front door."""

from australis.algebra.expr.literals import INSTANT_MAX_US, LONG_MAX

__all__ = ["INSTANT_MAX_US", "LONG_MAX"]
