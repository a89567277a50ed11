"""A service in this process."""

from tests.client.conftest import start

__all__ = ["start"]
