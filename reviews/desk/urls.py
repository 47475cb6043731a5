"""The decision page and operations."""

from typing import Any

urlpatterns: list[Any] = []
