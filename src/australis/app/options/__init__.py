"""What the arguments of commands mean: networks, files, roots, queries and settings of a node.

Texts come in; checked values go out, or a message that says what to write instead.
"""
