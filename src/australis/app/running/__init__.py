"""Running a network for a command: on a node or in this process, with sources, sinks and Ctrl-C.

Networks and files come in; written outputs and a summary go out.
"""
