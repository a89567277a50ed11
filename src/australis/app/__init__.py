"""What people use: the command line.

Comes in: arguments, network files, files of tuples. Goes out: answers, pictures, files, and an exit code.
Importing a command loads only what that command needs; none of them loads Spark before it is asked to.
"""
