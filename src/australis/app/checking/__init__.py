"""What `australis check --rate` stands on: can a machine take the expected load?

Rates and costs come in; an analysis and, under overload, the drop boxes that would stand go out.
"""
