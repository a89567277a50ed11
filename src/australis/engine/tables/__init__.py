"""Stored tables: files and tables of databases that inputs are decorated with, read as Arrow.

Comes in: a store and the schema that its rows should have. Goes out: rows of that schema, and beside them
those that do not fit; new versions of tables as events of the log; rows by key, for joins that look them up.
"""
