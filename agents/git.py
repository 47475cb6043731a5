"""git, run by the worker itself: never a hook, a pager, a prompt, an external diff or a user's configuration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

LONGEST_SECONDS = 120

_SAFE = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "core.quotePath=true",
    "-c", "protocol.ext.allow=never",
    "-c", "user.name=Fencepost worker",
    "-c", "user.email=worker@fencepost.invalid",
    "-c", "commit.gpgSign=false",
    "-c", "gc.auto=0",
    "-c", "safe.directory=*",
)  # fmt: skip


class GitFailed(RuntimeError):
    """git ended with an error; the message is its last line."""


def git(folder: Path, *words: str, environment: Mapping[str, str] | None = None) -> str:
    """Run git in a folder; its output, which is decoded as UTF-8 with replacements.

    Raises ``GitFailed``, also when it takes longer than ``LONGEST_SECONDS``.
    """
    return git_bytes(folder, *words, environment=environment).decode("utf-8", "replace").strip()


def git_bytes(folder: Path, *words: str, environment: Mapping[str, str] | None = None) -> bytes:
    """Run git in a folder; its output as it is. Raises ``GitFailed``."""
    base = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
    }
    try:
        ran = subprocess.run(
            ["git", *_SAFE, *words], cwd=folder, env={**base, **(environment or {})}, capture_output=True, timeout=LONGEST_SECONDS,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed(f"git {words[0]}: {error}") from error
    if ran.returncode != 0:
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(f"git {words[0]}: {said[-1] if said else f'ended with {ran.returncode}'}")
    return ran.stdout
