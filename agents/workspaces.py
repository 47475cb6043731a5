"""The folder an attempt works in, on this machine: a git repository of its own, or an empty folder.

Promises: a workspace belongs to one attempt; making it again begins from the same commit; what
is collected is the files as they are, whatever the command did with git. Its refs, index and
configuration are its own: no branch of the source moves but the attempt's, and no filter or
other program that the command set up is run by the worker.
Nothing is ever merged: the work stays on a branch of its own, also after it was accepted.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.conf import settings

from agents.git import GitFailed, git, git_bytes


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of one attempt. ``source`` is the repository; None where the task needs none."""

    root: Path
    source: Path | None = None
    branch: str = ""
    base_commit: str = ""
    start_commit: str = ""

    @property
    def work(self) -> Path:
        """Where the command works."""
        return self.root / "work"

    @property
    def out(self) -> Path:
        """Where the command puts what is to be delivered."""
        return self.root / "out"

    @property
    def log(self) -> Path:
        return self.root / "agent.log"


@dataclass(frozen=True, slots=True)
class Start:
    """From where a round begins: the commit an earlier attempt left, and what its diff is against."""

    base_commit: str
    commit: str


def root_of_all() -> Path:
    """The folder of every workspace of this machine."""
    folder = settings.FENCEPOST_VAR / "workspaces"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Path(folder)


def name_of(attempt_id: UUID, starts: int) -> str:
    """The folder's name: each start of a run has its own, so that a late loser disturbs nobody."""
    return f"{attempt_id.hex}-{starts}"


def make(name: str, repository: str, base_ref: str, branch: str, start: Start | None) -> Workspace:
    """A fresh workspace. ``branch`` is made to point at the commit the work begins from.

    Raises ``GitFailed`` when the repository or the commit is not there.
    """
    root = root_of_all() / name
    discard(root)
    for folder in (root, root / "out", root / "home", root / "cmd"):
        folder.mkdir(mode=0o700)
    if not repository:
        (root / "work").mkdir(mode=0o700)
        return Workspace(root)

    source = source_of(repository)
    with _held(source):
        base = start.base_commit if start else _resolve(source, base_ref)
        begin = start.commit if start else base
        git(source, "update-ref", f"refs/heads/{branch}", begin)
    _check_out(source, root / "work", begin)
    return Workspace(root, source, branch, base, begin)


def _check_out(source: Path, work: Path, commit_id: str) -> None:
    """A repository without remotes or branches at one commit; it reads objects from the source and has the rest itself."""
    git(work.parent, "init", "--quiet", "--template=", "--initial-branch=work", str(work))
    inside = work / ".git"
    objects = source / git(source, "rev-parse", "--git-path", "objects")
    (inside / "objects" / "info" / "alternates").write_text(f"{objects.resolve()}\n", encoding="utf-8")
    shallow = source / git(source, "rev-parse", "--git-path", "shallow")
    if shallow.exists():
        shutil.copy(shallow, inside / "shallow")
    git(work, "checkout", "--quiet", "--detach", commit_id)


def commit(workspace: Workspace, message: str) -> str:
    """One commit of the files as they are, on the attempt's branch; its id.

    An index of its own sees what the command's index would hide (assume-unchanged, skip-worktree),
    and the source's configuration is read, not the one the command could write. Nothing changed:
    the commit it began from.
    """
    if workspace.source is None:
        return ""
    of_source = {
        "GIT_DIR": git(workspace.source, "rev-parse", "--absolute-git-dir"),
        "GIT_WORK_TREE": str(workspace.work),
        "GIT_INDEX_FILE": str(workspace.root / "collected.index"),
    }
    git(workspace.work, "read-tree", workspace.start_commit, environment=of_source)
    git(workspace.work, "add", "--all", "--", ".", environment=of_source)
    tree = git(workspace.work, "write-tree", environment=of_source)
    if tree == git(workspace.source, "rev-parse", f"{workspace.start_commit}^{{tree}}"):
        made = workspace.start_commit
    else:
        made = git(workspace.source, "commit-tree", tree, "-p", workspace.start_commit, "-m", message)
    git(workspace.source, "update-ref", f"refs/heads/{workspace.branch}", made)
    return made


def diff(workspace: Workspace, head_commit: str) -> bytes:
    """The change against the base as text; binary files are named, not written out."""
    if workspace.source is None:
        return b""
    return git_bytes(
        workspace.source, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--full-index",
        "--src-prefix=a/", "--dst-prefix=b/", workspace.base_commit, head_commit,
    )  # fmt: skip


def keep_log(workspace: Workspace, attempt_id: UUID) -> None:
    """Keep the command's output beside the server's own logs when the workspace goes."""
    logs = settings.FENCEPOST_VAR / "log" / "attempts"
    logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        if workspace.log.stat().st_size:
            workspace.log.replace(logs / f"{attempt_id}.log")


def discard_dead(alive: set[str]) -> list[str]:
    """Delete every workspace of this machine whose name is not among ``alive``; those deleted."""
    dead = [
        folder
        for folder in root_of_all().iterdir()
        if folder.is_dir() and not folder.is_symlink() and folder.name not in alive
    ]
    for folder in dead:
        discard(folder)
    return [folder.name for folder in dead]


def discard(root: Path) -> None:
    """Delete a workspace's folder. A missing one is fine."""
    if root.is_symlink() or root.parent != root_of_all():
        raise ValueError(f"{root} is no workspace")
    if root.exists():
        _make_removable(root)
        shutil.rmtree(root, ignore_errors=True)


def _make_removable(root: Path) -> None:
    """A command may have taken its own right to write away; folders need it back to be emptied."""
    for folder, names, _ in os.walk(root, followlinks=False):
        for name in names:
            inner = Path(folder) / name
            if not inner.is_symlink():
                with contextlib.suppress(OSError):
                    inner.chmod(0o700)


def source_of(repository: str) -> Path:
    """The repository on this machine: a folder, or a bare copy of a URL, fetched now.

    Raises ``GitFailed``.
    """
    if "://" in repository or repository.startswith("git@"):
        return _fetched(repository)
    folder = Path(settings.FENCEPOST_REPOSITORIES) / repository
    if not Path(repository).is_absolute() and not folder.resolve().is_relative_to(
        Path(settings.FENCEPOST_REPOSITORIES).resolve()
    ):
        raise GitFailed(f"the repository {repository} is outside of the repositories' folder")
    if not folder.is_dir():
        raise GitFailed(f"there is no repository {repository}")
    return folder


def _fetched(url: str) -> Path:
    mirrors = settings.FENCEPOST_VAR / "mirrors"
    mirrors.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy = Path(mirrors) / hashlib.sha256(url.encode()).hexdigest()[:32]
    with _held(copy):
        if not (copy / "HEAD").exists():
            git(mirrors, "init", "--quiet", "--bare", str(copy))
        git(
            copy, "fetch", "--quiet", "--no-tags", "--force", "--", url, "+refs/heads/*:refs/remotes/origin/*"
        )
    return copy


def _resolve(source: Path, ref: str) -> str:
    """The commit of a branch, a remote branch or a commit id."""
    if ref.startswith("-"):
        raise GitFailed(f"{ref} names no commit")
    for name in (f"refs/remotes/origin/{ref}", f"refs/heads/{ref}", ref):
        try:
            return git(source, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except GitFailed:
            continue
    raise GitFailed(f"there is no branch or commit {ref}")


@contextmanager
def _held(source: Path) -> Iterator[None]:
    """One process at a time fetches into a repository and sets its branches; the lock goes with the process."""
    locks = settings.FENCEPOST_VAR / "run"
    locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = hashlib.sha256(str(source).encode()).hexdigest()[:16]
    held = os.open(locks / f"repository-{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)
