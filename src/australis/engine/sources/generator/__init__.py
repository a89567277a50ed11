"""A source that makes tuples up: the same ones for the same seed.

A text of settings comes in; deliveries with positions go out.
"""

from australis.engine.sources.generator.generator import PREFIX, GeneratorSource, parse_generator

__all__ = [
    "PREFIX",
    "GeneratorSource",
    "parse_generator",
]
