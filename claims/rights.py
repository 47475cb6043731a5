"""Which right carries which: the written matrix of what persons may do in a pool."""

from __future__ import annotations

from collections.abc import Iterable

from claims.vocabulary import Right

IMPLIED: dict[Right, frozenset[Right]] = {
    Right.VIEWER: frozenset({Right.VIEWER}),
    Right.PREPARER: frozenset({Right.VIEWER, Right.PREPARER}),
    Right.REVIEWER: frozenset({Right.VIEWER, Right.REVIEWER}),
    Right.OPERATOR: frozenset({Right.VIEWER, Right.OPERATOR}),
    Right.ADMIN: frozenset(Right),
}
"""An administrator has every right, and still may not decide on what an agent of his made."""


def expand(rights: Iterable[str]) -> frozenset[Right]:
    """Every right that the given ones carry."""
    return frozenset().union(*(IMPLIED[Right(right)] for right in rights))
