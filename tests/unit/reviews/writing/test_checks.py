"""What the check of a task says, with its place; and what a scope means in the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from claims.models import Agent, AgentPool, Membership
from claims.selectors import preparing
from claims.taskfile import check_template
from claims.vocabulary import Right
from reviews.writing import scope
from reviews.writing.checks import Around, Finding, findings
from reviews.writing.fields import rows_in
from reviews.writing.scope import Tree, counted, found
from tests.unit.reviews.world import World, as_person, done
from tests.unit.reviews.writing.conftest import FILES, GOOD, employ, form_of, plant, text_of

FRAGMENT: dict[str, Any] = {"HTTP_HX_REQUEST": "true", "HTTP_HX_REQUEST_TYPE": "partial"}


def check(world: World, text: str, **more: Any) -> list[Finding]:
    checked = check_template(text)
    names = [str(name) for name in rows_in(checked.body or {}, "dependsOn")]
    around = {
        "pool": preparing.around(world.billing.pk),
        "pool_name": "billing",
        "before": preparing.named(world.billing.pk, names),
        "has_workers": True,
    }
    return findings(checked, Around(**around | more))


def said(world: World, text: str, **more: Any) -> list[tuple[int, str, bool]]:
    return [(one.line, one.text, one.is_refusal) for one in check(world, text, **more)]


def test_nothing_is_said_of_a_task_that_holds_together(world: World) -> None:
    assert check(world, GOOD) == []


def test_flaws_of_the_text_are_refusals_with_their_place(world: World) -> None:
    (finding,) = check(world, GOOD.replace("proof:", "prof:"))
    assert finding == Finding(7, 5, "there is no key prof; did you mean proof?", True)


def test_a_criterion_without_proof_or_evidence_is_one_that_nobody_can_prove(world: World) -> None:
    text = GOOD.replace("    criteria: [1]\n", "").replace("    proof: the tests\n", "")
    assert said(world, text) == [
        (6, "nobody can prove criterion 1: say how, or ask for evidence that is for it", False)
    ]
    assert said(world, text + "    criteria: [1]\n") == []


def test_a_proof_in_words_alone_needs_some_evidence(world: World) -> None:
    text = GOOD[: GOOD.index("evidence:")]
    assert said(world, text) == [(7, "nobody can prove criterion 1: no evidence is asked for", False)]


def test_a_task_without_criteria_is_pointed_out(world: World) -> None:
    assert said(world, "task: Look\npool: billing\n") == [
        (1, "there is no criterion: what is accepted is the result as a whole", False)
    ]


def test_a_command_that_no_worker_can_run_is_pointed_out(world: World) -> None:
    ((line, text, is_refusal),) = said(world, GOOD, has_workers=False)
    assert (line, is_refusal) == (11, False)
    assert "no worker of this server serves the pool" in text


def test_labels_that_no_agent_has_are_pointed_out_one_by_one_and_together(world: World) -> None:
    Agent.objects.filter(name="agent-9").update(labels=["python"])
    assert said(world, GOOD + "access: [pdf, browser]\n") == [
        (13, "no agent of this pool has the label pdf", False)
    ]
    assert said(world, GOOD + "access: [python, browser]\n") == [
        (13, "no agent of this pool has all of these labels", False)
    ]
    assert said(world, GOOD + "access: [python]\n") == []


def test_a_disabled_agent_takes_nothing(world: World) -> None:
    Agent.objects.update(is_disabled=True)
    assert said(world, GOOD) == [(4, "no agent works in the pool billing: nobody can take this task", False)]


def test_a_reviewer_who_owns_the_agents_is_pointed_out(world: World) -> None:
    Membership.objects.create(pool=world.billing, person=world.noor, right=Right.REVIEWER)
    assert said(world, GOOD + "reviewer: noor\n") == [
        (13, "Noor Haddad owns every agent that can take it, and may then not decide", False)
    ]
    other = Agent.objects.create(name="agent-1", owner=world.ben, labels=[])
    AgentPool.objects.create(agent=other, pool=world.billing)
    ((_, text, _),) = said(world, GOOD + "reviewer: noor\n")
    assert text == "Noor Haddad owns agent-3, agent-7, agent-9, and may not decide on what it delivers"
    assert said(world, GOOD + "reviewer: ines\n") == []


def test_a_reviewer_or_group_that_is_none_is_refused(world: World) -> None:
    assert said(world, GOOD + "reviewer: mira\n") == [
        (13, "mira is not a reviewer in the pool billing", True)
    ]
    assert said(world, GOOD + "reviewerGroup: desk\n") == [
        (13, "there is no reviewer group desk in the pool billing", True)
    ]


def test_dependencies_are_followed_to_a_circle_an_unknown_and_a_cancelled_task(world: World) -> None:
    from claims import transitions

    task = world.write("Before")
    gone = world.write("Gone")
    done(transitions.cancel(as_person(world.noor), gone.pk, "not wanted"))
    text = GOOD + f"nodeId: me\ndependsOn: [me, T-99999, {task}, {task.number}, {gone}, other]\n"
    assert [
        (one, is_refusal) for _, one, is_refusal in said(world, text.replace(f" {task.number},", ""))
    ] == [
        ("the dependencies go round in a circle: me waits for itself", True),
        ("there is no task T-99999 in this pool", True),
        (f"{gone} is cancelled: this task stays blocked until that one is revised", False),
        ("there is no task other in this pool; a node of the same import is known only there", True),
    ]
    twice = said(world, GOOD + f"dependsOn: [{task}, {task}]\n")
    assert twice == [(13, f"{task} and {task} are the same task", True)]


def test_a_scope_that_its_own_exclusions_cover_is_pointed_out(world: World) -> None:
    text = (
        GOOD + "scope: {files: [app/**, 'docs/*.md', app/vendor/lib.py], excluded: [app/vendor/**, docs]}\n"
    )
    assert [one for _, one, _ in said(world, text)] == [
        "docs/*.md is excluded by docs: no file of it may be changed",
        "app/vendor/lib.py is excluded by app/vendor/**: no file of it may be changed",
    ]


def test_the_repository_says_which_globs_mean_nothing(world: World) -> None:
    tree = Tree("shop", FILES)
    found_files = counted(tree, ["app/v*/*", "nothing/**"], ["**/lib.py"], [])
    text = GOOD + "scope: {files: ['app/v*/*', 'nothing/**'], excluded: ['**/lib.py']}\n"
    assert [one for _, one, _ in said(world, text, counted=found_files)] == [
        "every file of app/v*/* is excluded",
        "nothing/** means no file of shop yet",
    ]


def test_look_ups_that_this_server_may_not_follow_are_pointed_out(world: World) -> None:
    slot = "effects:\n  - {slot: mail, mode: QUERYABLE, target: post"
    assert said(world, GOOD + slot + "}\n") == [
        (14, "without a look-up this is NON_REPLAYABLE: a person approves each permit", False)
    ]
    http = GOOD + slot + ", lookup: {kind: http, url: 'https://post.example/{effectId}'}}\n"
    assert said(world, http) == [
        (14, "this server may not ask post.example:443; its operator says which hosts it may", False)
    ]
    assert said(world, http, lookup_hosts=["post.example"]) == []
    assert said(world, http, lookup_hosts=["post.example:443"]) == []
    command = GOOD + slot + ", lookup: {kind: command, name: sent}}\n"
    assert said(world, command) == [(14, "this server has no look-up command sent", False)]
    assert said(world, command, lookup_commands=["sent"]) == []


@pytest.mark.parametrize(
    "text", ["acceptance: 1\nscope: 2\naccess: 3\nevidence: 4\neffects: [5]\ndependsOn: 6\n", "[", ""]
)
def test_a_text_of_any_shape_is_checked_to_its_end(world: World, text: str) -> None:
    assert any(one.is_refusal for one in check(world, text))


def test_files_are_counted_and_other_tasks_at_work_on_them_named(mira: Client, repository: World) -> None:
    other = repository.write("Work on app")
    repository.claim(other, "agent-9")
    text = GOOD + "scope: {files: ['app/**'], excluded: ['app/dates.py']}\n"
    page = text_of(mira.post("/tasks/new/scope", form_of(text), **FRAGMENT))
    assert "<b>2 files</b> of shop are in the scope, 1 excluded" in page
    assert f"1 also claimed by T-{other.number}" in page
    assert "app/vendor/lib.py" in page


def test_a_search_finds_files_by_words_of_their_path(mira: Client, repository: World) -> None:
    page = text_of(mira.post("/tasks/new/scope", form_of(GOOD, find="DATES py"), **FRAGMENT))
    assert 'value="scope:files:app/dates.py"' in page
    assert "app/billing.py</code> <button" not in page
    none = text_of(mira.post("/tasks/new/scope", form_of(GOOD, find="nowhere"), **FRAGMENT))
    assert "No file has “nowhere” in its path." in none
    assert found(Tree("shop", FILES), "  ") == []


def test_a_pool_without_a_repository_says_that_files_cannot_be_counted(mira: Client, world: World) -> None:
    page = text_of(mira.post("/tasks/new/scope", form_of(GOOD), **FRAGMENT))
    assert "so files cannot be counted" in page


@pytest.mark.parametrize("repository_name", ["../outside", "absent", "-x"])
def test_only_a_repository_below_the_folder_is_read(
    world: World, tmp_path: Path, settings: Any, repository_name: str
) -> None:
    settings.FENCEPOST_REPOSITORIES = tmp_path / "inside"
    (tmp_path / "inside").mkdir()
    plant(tmp_path / "outside", FILES)
    employ(world, repository_name)
    assert scope.tree_of(scope.workers_of(world.billing.pk)) == (None, "")


def test_a_repository_that_cannot_be_read_is_named(mira: Client, repository: World, settings: Any) -> None:
    (settings.FENCEPOST_REPOSITORIES / "shop" / ".git" / "HEAD").unlink()
    page = text_of(mira.post("/tasks/new/scope", form_of(GOOD), **FRAGMENT))
    assert "The repository shop could not be read just now." in page


def test_a_commit_is_seen_when_the_listing_has_aged(
    repository: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = scope.workers_of(repository.billing.pk)
    tree, _ = scope.tree_of(workers)
    assert tree is not None
    assert tree.files == FILES
    assert scope.tree_of(workers)[0] is tree
    monkeypatch.setattr(scope, "FRESH_SECONDS", 0.0)
    assert scope.tree_of(workers)[0] is tree
    monkeypatch.setattr(scope, "MOST_FILES", 2)
    cut, _ = scope.tree_of(workers)
    assert cut is not None
    assert (cut.files, cut.is_cut) == (FILES[:2], True)


def test_globs_of_all_forms_mean_what_the_scope_of_a_delivery_means() -> None:
    tree = Tree("shop", FILES)
    for pattern, files in {
        "app": 3,
        "app/": 3,
        "./app/*.py": 2,
        "*.py": 4,
        "**/vendor/**": 1,
        "app/d?tes.py": 1,
        "static/app.css": 1,
    }.items():
        assert len(tree.meaning(pattern)) == files, pattern
