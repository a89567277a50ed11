"""The PostgreSQL server of the engine's tests, for feeds into one."""

from tests.engine.conftest import postgresql

__all__ = ["postgresql"]
