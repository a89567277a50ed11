"""The JSON and YAML form of networks.

`form` reads and writes whole networks, `codecs` knows each part of one, `documents` turns texts into plain
values and back. What is written reads back equal.
"""
