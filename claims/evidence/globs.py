"""Globs of a scope, as people write them: ``**`` crosses folders, ``*`` and ``?`` do not.

Promises: matching takes time linear in pattern times path, whatever the pattern (no regular
expression that backtracks). A pattern without a slash matches a file name in any folder; one
that ends in a slash, or names a folder, matches everything below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache


def matches(pattern: str, path: str) -> bool:
    """Whether ``path`` (forward slashes, relative) is meant by ``pattern``."""
    parts = _parts(pattern)
    return bool(parts) and _walk(parts, path.split("/"))


def matches_any(patterns: Sequence[str], path: str) -> bool:
    """Whether any of the patterns means the path."""
    return any(matches(pattern, path) for pattern in patterns)


@lru_cache(maxsize=4_096)
def _parts(pattern: str) -> tuple[str, ...]:
    cleaned = pattern.strip().removeprefix("./").lstrip("/")
    if not cleaned:
        return ()
    parts = [part for part in cleaned.split("/") if part]
    if "/" not in cleaned:
        parts.insert(0, "**")
    if cleaned.endswith("/"):
        parts.append("**")
    return tuple(parts)


def _walk(parts: Sequence[str], names: Sequence[str]) -> bool:
    """Dynamic programming over (pattern part, path part): no pattern makes it explode.

    A pattern that is used up before the path named a folder: what is below it matches too.
    """
    reachable = {0}
    for name in names:
        reachable = _close(parts, reachable)
        if len(parts) in reachable:
            return True
        reachable = {
            step if parts[step] == "**" else step + 1
            for step in reachable
            if parts[step] == "**" or _name_matches(parts[step], name)
        }
        if not reachable:
            return False
    return len(parts) in _close(parts, reachable)


def _close(parts: Sequence[str], reachable: set[int]) -> set[int]:
    """``**`` may stand for no folder at all."""
    closed = set(reachable)
    for step in sorted(reachable):
        while step < len(parts) and parts[step] == "**":
            step += 1
            closed.add(step)
    return closed


def _name_matches(pattern: str, name: str) -> bool:
    """``*`` and ``?`` within one name, with the classic two-pointer walk; brackets are literal."""
    at = position = mark = 0
    star = -1
    while position < len(name):
        if at < len(pattern) and pattern[at] in ("?", name[position]) and pattern[at] != "*":
            at, position = at + 1, position + 1
        elif at < len(pattern) and pattern[at] == "*":
            star, mark = at, position
            at += 1
        elif star >= 0:
            mark += 1
            at, position = star + 1, mark
        else:
            return False
    return pattern[at:].strip("*") == ""
