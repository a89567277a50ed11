"""From syntax and a schema to the typed tree.

`bind` walks the syntax, `signatures` types each call, `coerce` inserts the casts that Spark SQL would insert.
"""
