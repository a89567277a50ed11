"""Trains on Spark: the session, the jobs, and boxes as Spark columns.

Waybills come in, manifests go out. Only this room imports pyspark.
"""
