"""From the text of an expression to its syntax tree.

Text comes in; `tokens` cuts it into words and signs, `grammar` and `operands` build the tree of `syntax`.
Nothing here knows a schema.
"""
