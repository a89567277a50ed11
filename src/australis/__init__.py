"""Australis: Aurora-model stream networks on Apache Spark."""
