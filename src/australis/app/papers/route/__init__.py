"""The experiments on distributed eddies, beside the paper's numbers.

Options come in; a report as text, JSON or charts goes out.
"""
