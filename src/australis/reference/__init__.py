"""The reference semantics: every box, one tuple at a time, in the plainest Python; slow on purpose.

In: a network, then events (tuples, the passing of time, the end), each with its local time. Out: what the
network emits, in a fixed order. Each file corresponds to a section of docs/semantics.md. The kernels and
Spark are tested against this room; only the command line runs networks on it.
"""
