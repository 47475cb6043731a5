"""Looking up a git ref, in real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from django.conf import LazySettings

from claims.lookups.looking import look_up
from claims.lookups.recipes import GitRefLookup
from claims.lookups.sighting import Sighted, Subject
from claims.vocabulary import Said
from tests.unit.claims.lookups.conftest import EFFECT

REF = f"refs/heads/release/{EFFECT}"


def git(folder: Path, *words: str) -> str:
    name = {
        f"GIT_{who}_{what}": "t@t.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    own = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **name}
    ran = subprocess.run(["git", *words], cwd=folder, env=own, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


@pytest.fixture
def repositories(tmp_path: Path, settings: LazySettings) -> Path:
    folder = tmp_path / "repositories"
    folder.mkdir()
    settings.FENCEPOST_REPOSITORIES = folder
    return folder


@pytest.fixture
def billing(repositories: Path) -> Path:
    """A repository with one commit on main."""
    folder = repositories / "billing"
    git(repositories, "init", "--quiet", "--initial-branch=main", "billing")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=begin")
    return folder


def seen(subject: Subject, **fields: object) -> Sighted:
    body = {"kind": "git-ref", "repository": "billing", "ref": "refs/heads/release/{effectId}", **fields}
    return look_up(GitRefLookup.model_validate({"authoritative": True, **body}), subject)


def test_a_ref_that_exists_happened_and_its_commit_is_the_receipt(billing: Path, subject: Subject) -> None:
    git(billing, "branch", f"release/{EFFECT}")

    sighted = seen(subject)

    assert sighted.said is Said.HAPPENED
    assert sighted.receipt == {"ref": REF, "commit": git(billing, "rev-parse", "HEAD")}
    assert sighted.how == f"git ref {REF} of billing"
    assert sighted.is_authoritative


def test_a_ref_that_does_not_exist_did_not_happen(billing: Path, subject: Subject) -> None:
    git(billing, "branch", f"release/{'5b' * 32}")
    git(billing, "branch", f"release/{EFFECT}.old")

    assert seen(subject).said is Said.DID_NOT_HAPPEN


def test_a_ref_below_the_name_is_another_ref(billing: Path, subject: Subject) -> None:
    git(billing, "branch", f"release/{EFFECT}/more")

    assert seen(subject).said is Said.DID_NOT_HAPPEN


def test_a_packed_ref_of_a_bare_repository_is_found(
    billing: Path, repositories: Path, subject: Subject
) -> None:
    git(billing, "branch", f"release/{EFFECT}")
    git(billing, "pack-refs", "--all")
    git(repositories, "clone", "--quiet", "--bare", "billing", "bare")

    assert seen(subject, repository="bare").said is Said.HAPPENED


def test_the_commit_decides_where_the_recipe_names_one(billing: Path, subject: Subject) -> None:
    commit = git(billing, "rev-parse", "HEAD")
    assert seen(subject, ref="refs/heads/main", commit=commit).said is Said.HAPPENED

    git(billing, "commit", "--quiet", "--allow-empty", "--message=moved on")
    sighted = seen(subject, ref="refs/heads/main", commit=commit)

    assert sighted.said is Said.CANNOT_TELL
    assert sighted.receipt["commit"] == git(billing, "rev-parse", "HEAD")
    assert f"not at {commit}" in sighted.note


def test_an_annotated_tag_stands_for_its_commit(billing: Path, subject: Subject) -> None:
    git(billing, "tag", "--annotate", "--message=one", "v1")
    commit = git(billing, "rev-parse", "HEAD")

    assert seen(subject, ref="refs/tags/v1", commit=commit).said is Said.HAPPENED


def test_a_repository_that_is_not_there_cannot_tell(repositories: Path, subject: Subject) -> None:
    assert seen(subject).said is Said.CANNOT_TELL


def test_a_folder_inside_another_repository_is_not_that_repository(
    repositories: Path, subject: Subject
) -> None:
    git(repositories.parent, "init", "--quiet", "--initial-branch=main", ".")
    (repositories / "billing").mkdir()

    sighted = seen(subject)

    assert sighted.said is Said.CANNOT_TELL
    assert "not a git repository" in sighted.note


def test_a_link_that_leads_out_of_the_repositories_is_not_followed(
    billing: Path, repositories: Path, subject: Subject
) -> None:
    git(billing, "branch", f"release/{EFFECT}")
    billing.rename(repositories.parent / "elsewhere")
    billing.symlink_to(repositories.parent / "elsewhere")

    assert seen(subject).said is Said.CANNOT_TELL


@pytest.mark.parametrize("content", ["", "nonsense\n", "0" * 40 + "\n", "ab" * 20 + "\n"])
def test_a_damaged_ref_is_not_taken_for_an_absent_one(billing: Path, subject: Subject, content: str) -> None:
    file = billing / ".git" / REF
    file.parent.mkdir(parents=True)
    file.write_text(content)

    sighted = seen(subject)

    assert sighted.said is Said.CANNOT_TELL
    assert sighted.note.startswith("git: ")


def test_a_damaged_list_of_refs_cannot_tell(billing: Path, subject: Subject) -> None:
    (billing / ".git" / "packed-refs").write_text("nonsense\n")

    assert seen(subject).said is Said.CANNOT_TELL


def test_no_hook_and_no_program_of_the_repository_is_run(
    billing: Path, subject: Subject, tmp_path: Path
) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o700)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "pager.for-each-ref",
        "alias.for-each-ref",
        "core.sshCommand",
    ):
        git(billing, "config", key, f"!{trap}" if key.startswith("alias") else str(trap))

    assert seen(subject).said is Said.DID_NOT_HAPPEN
    assert not (tmp_path / "sprung").exists()


def test_git_that_is_not_there_cannot_tell(
    billing: Path, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    sighted = seen(subject)

    assert (sighted.said, sighted.note) == (Said.CANNOT_TELL, "git was not run: No such file or directory")


def test_variables_of_the_server_do_not_lead_git_elsewhere(
    billing: Path, repositories: Path, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repositories, "clone", "--quiet", "billing", "other")
    git(repositories / "other", "branch", f"release/{EFFECT}")
    monkeypatch.setenv("GIT_DIR", str(repositories / "other" / ".git"))

    assert seen(subject).said is Said.DID_NOT_HAPPEN
