"""Queries on history without a node, and where their tuples go.

A query and a root come in; a table, JSON lines or files go out.
"""
