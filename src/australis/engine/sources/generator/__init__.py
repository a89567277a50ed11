"""A source that generates tuples: the same ones for the same seed.

In: a text of settings. Out: deliveries with positions.
"""

from australis.engine.sources.generator.generator import PREFIX, GeneratorSource, parse_generator

__all__ = [
    "PREFIX",
    "GeneratorSource",
    "parse_generator",
]
