"""The look-up of a git ref in a repository of this server.

Promises: only a repository below FENCEPOST_REPOSITORIES is read, and never one around it; no hook
or configuration of a user is run. An absent ref is DID_NOT_HAPPEN only when git read the
repository without a complaint: a damaged ref looks absent too.
"""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings

from claims.lookups import programs
from claims.lookups.recipes import GitRefLookup, filled
from claims.lookups.sighting import Sighted, Subject, excerpt, line
from claims.vocabulary import Said

OUTPUT_BYTES = 64 * 1024
FORMAT = "--format=%(refname) %(objecttype) %(objectname) %(*objectname)"
"""Asking for the type makes git read the object, so that a ref to nothing is an error and not a find."""

_SAFE = (
    "--no-pager",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "safe.directory=*",
)


def look_up(recipe: GitRefLookup, subject: Subject) -> Sighted:
    """Read the ref; where the recipe names a commit, the ref (peeled, if it is a tag) must be exactly that."""
    ref = filled(recipe.ref, {"effectId": subject.effect_id})
    how = f"git ref {ref} of {recipe.repository}"
    root = Path(settings.FENCEPOST_REPOSITORIES).resolve()
    folder = (root / recipe.repository).resolve()
    if not folder.is_relative_to(root) or not folder.is_dir():
        return _cannot_tell(recipe, how, "there is no repository of this name below FENCEPOST_REPOSITORIES")
    try:
        ended = programs.run(
            ["git", *_SAFE, "for-each-ref", FORMAT, "--", ref],
            _environment(root),
            recipe.timeoutSeconds,
            OUTPUT_BYTES,
            folder,
        )
    except programs.NotRun as error:
        return _cannot_tell(recipe, how, f"git was not run: {error}")
    if ended.exit_code is None:
        return _cannot_tell(recipe, how, f"git took longer than {recipe.timeoutSeconds} s")
    if ended.exit_code != 0 or ended.errors or ended.output_is_cut:
        return _cannot_tell(recipe, how, _complaint(ended))
    return _read(recipe, how, ref, ended.output.decode("utf-8", "replace"))


def _read(recipe: GitRefLookup, how: str, ref: str, output: str) -> Sighted:
    # The pattern `refs/heads/a` also lists what is below a folder `refs/heads/a/`.
    found = [each.split() for each in output.splitlines() if each.startswith(f"{ref} ")]
    if not found:
        return Sighted(Said.DID_NOT_HAPPEN, how, {"ref": ref}, "the ref does not exist", recipe.authoritative)
    commit = found[0][-1]
    receipt = {"ref": ref, "commit": commit}
    if recipe.commit is not None and commit != recipe.commit:
        reason = f"the ref exists, but at {commit} and not at {recipe.commit}"
        return Sighted(Said.CANNOT_TELL, how, receipt, reason, recipe.authoritative)
    return Sighted(Said.HAPPENED, how, receipt, "", recipe.authoritative)


def _environment(root: Path) -> dict[str, str]:
    return {
        "HOME": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        # Without it git would read the repository that FENCEPOST_REPOSITORIES itself may lie in.
        "GIT_CEILING_DIRECTORIES": str(root),
    }


def _complaint(ended: programs.Ended) -> str:
    lines = excerpt(ended.errors).splitlines()
    return f"git: {lines[-1] if lines else f'ended with {ended.exit_code}'}"


def _cannot_tell(recipe: GitRefLookup, how: str, reason: str) -> Sighted:
    return Sighted(Said.CANNOT_TELL, how, {}, line(reason), recipe.authoritative)
