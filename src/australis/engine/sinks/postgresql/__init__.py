"""PostgreSQL tables as sinks: rows and the number after the last of them are written in one transaction.

In: the tables of an output, and an address such as `postgresql://host/db?table=alarms`. Out: rows of that
table, each once, whatever is killed; a second writer of the same name is fenced.
"""

from australis.engine.sinks.postgresql.sink import PostgresqlSink, parse_postgresql

__all__ = ["PostgresqlSink", "parse_postgresql"]
