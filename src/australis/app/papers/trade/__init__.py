"""The experiments on the market of contracts, beside the paper's numbers.

Options come in; a report as text, JSON or charts goes out.
"""
