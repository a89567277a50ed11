"""What people see in a terminal: progress, tables, summaries, how a network would run.

Statistics and reports come in; text goes out.
"""
