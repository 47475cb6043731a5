"""Which files a scope means, in the repository that the pool's workers work on.

Promises: only a repository below FENCEPOST_REPOSITORIES is read, with no hook and no configuration of
its own; what is too large to look through is cut and said so. What is answered may be half a minute old.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from django.conf import settings

from claims.evidence.globs import matches
from claims.lookups import programs
from claims.models import Pool
from claims.selectors.preparing import AtWork

log = structlog.get_logger(__name__)

MOST_FILES = 20_000
MOST_BYTES = 4 * 1024 * 1024
MOST_PATTERNS = 500
MOST_COMPARED = 2_000
"""Files of a scope that are compared with what other tasks may change."""
FOUND_LIMIT = 20
FRESH_SECONDS = 30.0
PATIENCE_SECONDS = 5.0
TREES_KEPT = 8
WORKERS_LIMIT = 20

_GIT = (
    "git",
    "--no-pager",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "safe.directory=*",
)


@dataclass(slots=True)
class Tree:
    """The files of a repository at the commit work begins from; ``is_cut`` when there are more."""

    repository: str
    files: tuple[str, ...]
    is_cut: bool = False
    read_at: float = 0.0
    meant: dict[str, frozenset[int]] = field(default_factory=dict)

    def meaning(self, pattern: str) -> frozenset[int]:
        """The places of the files that one glob means; kept, so that typing looks at the new glob only."""
        found = self.meant.get(pattern)
        if found is None:
            start = pattern.split("*")[0].split("?")[0].lstrip("./") if "/" in pattern.rstrip("/") else ""
            found = frozenset(
                at for at, path in enumerate(self.files) if path.startswith(start) and matches(pattern, path)
            )
            if len(self.meant) >= MOST_PATTERNS:
                self.meant.clear()
            self.meant[pattern] = found
        return found

    def meant_by(self, patterns: Sequence[str]) -> frozenset[int]:
        """The places of the files that any of the globs means."""
        return frozenset().union(*(self.meaning(pattern) for pattern in patterns[:MOST_PATTERNS]))


@dataclass(frozen=True, slots=True)
class Overlap:
    """Files of the scope that another task at work may change too."""

    number: int
    count: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What a scope means. ``unmatched`` are globs that mean no file, ``swallowed`` those all of whose files are excluded."""

    tree: Tree
    count: int
    excluded: int
    overlaps: Sequence[Overlap] = ()
    unmatched: Sequence[str] = ()
    swallowed: Sequence[str] = ()
    first: Sequence[str] = ()


_trees: dict[tuple[str, str], Tree] = {}


def workers_of(pool_id: int) -> list[tuple[str, str]]:
    """On which repository, from which ref, workers of this server run the pool's agents. One query."""
    # By the reverse relation: pages know no workers, and all they need of a profile are these two words.
    profiles = Pool.objects.filter(pk=pool_id, profiles__is_enabled=True).order_by("profiles__id")
    return list(profiles.values_list("profiles__repository", "profiles__base_ref")[:WORKERS_LIMIT])


def tree_of(workers: Sequence[tuple[str, str]]) -> tuple[Tree | None, str]:
    """The files of the first of these repositories that can be read, or the name of one that is here and cannot."""
    unread = ""
    for repository, ref in dict.fromkeys(workers):
        root = Path(settings.FENCEPOST_REPOSITORIES).resolve()
        folder = (root / repository).resolve()
        if not repository or ref.startswith("-") or not folder.is_relative_to(root) or not folder.is_dir():
            continue
        tree = _tree(root, folder, repository, ref)
        if tree is not None:
            return tree, ""
        unread = unread or repository
    return None, unread


def _tree(root: Path, folder: Path, repository: str, ref: str) -> Tree | None:
    known = _trees.get((repository, ref))
    if known is not None and time.monotonic() - known.read_at < FRESH_SECONDS:
        return known
    why = ""
    for name in (f"refs/heads/{ref}", ref):
        try:
            files, is_cut = _listed(root, folder, name)
            break
        except programs.NotRun as error:
            why = str(error)
    else:
        log.warning("repository unread", repository=repository, ref=ref, why=why)
        return None
    if known is not None and known.files == files:
        known.read_at = time.monotonic()
        return known
    if len(_trees) >= TREES_KEPT:
        _trees.clear()
    tree = _trees[repository, ref] = Tree(repository, files, is_cut, time.monotonic())
    return tree


def _listed(root: Path, folder: Path, ref: str) -> tuple[tuple[str, ...], bool]:
    """The paths at a ref, and whether there are more. Raises ``NotRun`` with the reason."""
    environment = {
        "HOME": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CEILING_DIRECTORIES": str(root),
    }
    words = [*_GIT, "ls-tree", "-r", "-z", "--name-only", "--full-tree", ref]
    ended = programs.run(words, environment, PATIENCE_SECONDS, MOST_BYTES, folder)
    if ended.exit_code is None:
        raise programs.NotRun(f"it took longer than {PATIENCE_SECONDS:.0f} s")
    if ended.exit_code != 0:
        raise programs.NotRun(ended.errors[:200].decode("utf-8", "replace").strip())
    names = ended.output.decode("utf-8", "replace").split("\0")[:-1]
    return tuple(names[:MOST_FILES]), ended.output_is_cut or len(names) > MOST_FILES


def counted(tree: Tree, files: Sequence[str], excluded: Sequence[str], others: Sequence[AtWork]) -> Counted:
    """How many files a scope means, and how many of them other tasks at work may change too."""
    out = tree.meant_by(excluded)
    asked = tree.meant_by(files) if files else frozenset(range(len(tree.files)))
    inside = asked - out
    few = frozenset(sorted(inside)[:MOST_COMPARED])
    shared = [
        Overlap(other.number, len(few & (tree.meant_by(other.files) - tree.meant_by(other.excluded))))
        for other in others
    ]
    return Counted(
        tree,
        len(inside),
        len(out),
        sorted((one for one in shared if one.count), key=lambda one: (-one.count, one.number)),
        [glob for glob in files if not tree.meaning(glob)],
        [glob for glob in files if tree.meaning(glob) and tree.meaning(glob) <= out],
        [tree.files[at] for at in sorted(inside)[:FOUND_LIMIT]],
    )


def found(tree: Tree, text: str) -> list[str]:
    """Files whose path holds every word of the text, the shortest first."""
    words = text.lower().split()
    if not words:
        return []
    hits = [path for path in tree.files if all(word in path.lower() for word in words)]
    return sorted(hits, key=lambda path: (len(path), path))[:FOUND_LIMIT]
