"""One file per command of the command line.

Arguments come in; each command calls the rooms beside this one and sets the exit code.
"""
