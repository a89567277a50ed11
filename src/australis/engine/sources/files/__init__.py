"""Files and folders as sources: read, replayed, followed or adopted, and resumed where they stopped.

Paths come in; deliveries with positions go out.
"""
