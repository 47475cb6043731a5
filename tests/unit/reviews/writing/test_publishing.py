"""Drafts are kept, found again and open in one place; a draft becomes one task."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from claims import transitions
from claims.models import History, Membership, Task
from claims.outcomes import Refused, Why
from claims.taskfile import MOST_BYTES
from claims.vocabulary import Right, Source, State
from reviews.models import TaskDraft
from reviews.writing import drafts
from reviews.writing.drafts import Elsewhere, Typed
from tests.unit.reviews.world import World
from tests.unit.reviews.writing.conftest import GOOD, form_of, text_of

FRAGMENT: dict[str, Any] = {"HTTP_HX_REQUEST": "true", "HTTP_HX_REQUEST_TYPE": "partial"}
ONE, TWO = "a" * 32, "b" * 32


def kept(
    world: World, draft: UUID, source: str = GOOD, seat: str = "", version: int = 0, **more: bool
) -> Any:
    return drafts.save(world.mira.pk, Typed(draft, source, source, {}, seat, version), **more)


def act(client: Client, do: str, posted: dict[str, str]) -> Any:
    return client.post("/tasks/new/seat", posted | {"do": do}, follow=True)


def test_a_check_keeps_the_draft_and_leads_back_to_it(mira: Client) -> None:
    posted = form_of(GOOD, **{"title": "Dates", "acceptance-1-text": "6 March 2026"})
    answer = mira.post("/tasks/new/check", posted)
    assert answer["Location"] == f"/tasks/new?draft={posted['draft']}"
    draft = TaskDraft.objects.get()
    assert (draft.title, "6 March 2026" in draft.source, draft.version) == ("Dates", True, 1)
    assert "6 March 2026" in text_of(mira.get(answer["Location"]))


def test_a_press_of_a_button_leads_to_the_field_it_made(mira: Client) -> None:
    posted = form_of(GOOD, edit="acceptance:add")
    answer = mira.post("/tasks/new/check", posted)
    assert answer["Location"].endswith("#f-acceptance-2-text")
    page = text_of(mira.post("/tasks/new/check", form_of(GOOD, edit="prove:file:1"), **FRAGMENT))
    assert 'data-focus="f-evidence-2-path"' in page


def test_what_cannot_be_written_into_a_broken_text_is_kept_beside_it(mira: Client) -> None:
    posted = form_of(GOOD, title="Months") | {"source": GOOD + "  - ["}
    mira.post("/tasks/new/check", posted)
    draft = TaskDraft.objects.get()
    assert (draft.base, draft.pending["title"]) == (GOOD, "Months")
    page = text_of(mira.get(f"/tasks/new?draft={draft.pk}"))
    assert 'name="title" value="Months"' in page
    assert "the form waits for the YAML" in page
    told = mira.post("/tasks/new/check", posted | {"edit": "acceptance:add", "version": "1"})
    assert told.status_code == 409
    assert "because the YAML cannot be read" in text_of(told)
    refused = mira.post("/tasks/new/publish", posted | {"version": "2"})
    assert refused.status_code == 422
    assert "the form has changes that are not in it" in text_of(refused)
    assert not Task.objects.exists()


def test_a_text_that_is_too_long_is_refused_and_drawn(mira: Client) -> None:
    answer = mira.post("/tasks/new/check", form_of("# " + "x" * MOST_BYTES))
    assert answer.status_code == 422
    assert "at most 256 KB" in text_of(answer)
    assert "x" * MOST_BYTES in text_of(answer)
    assert not TaskDraft.objects.exists()


def test_one_page_holds_the_seat_and_another_is_told(world: World) -> None:
    draft = uuid4()
    assert kept(world, draft, seat=ONE).version == 1
    assert kept(world, draft, seat=ONE, version=0).version == 2
    assert isinstance(kept(world, draft, "title: other\n", seat=TWO, version=2), Elsewhere)
    assert isinstance(drafts.sit(world.mira.pk, draft, TWO), Elsewhere)
    assert TaskDraft.objects.get().source == GOOD
    assert kept(world, draft, "title: other\n", seat=TWO, version=2, take=True).seat == TWO
    assert isinstance(kept(world, draft, seat=ONE), Elsewhere)


def test_a_seat_that_was_left_is_free_but_not_for_an_older_text(world: World) -> None:
    draft = uuid4()
    kept(world, draft, seat=ONE)
    drafts.leave(world.mira.pk, draft, TWO)
    assert TaskDraft.objects.get().seat == ONE
    drafts.leave(world.mira.pk, draft, ONE)
    assert isinstance(kept(world, draft, "title: older\n", seat=TWO, version=7), Elsewhere)
    assert kept(world, draft, "title: next\n", seat=TWO, version=1).title == "next"


def test_without_script_two_pages_of_one_version_are_told_apart(mira: Client) -> None:
    posted = form_of(GOOD)
    mira.post("/tasks/new/check", posted)
    assert (
        mira.post("/tasks/new/check", posted | {"version": "1", "source": GOOD + "ttl: 9\n"}).status_code
        == 302
    )
    late = mira.post("/tasks/new/check", posted | {"version": "1", "source": GOOD + "ttl: 8\n"})
    assert late.status_code == 409
    assert "changed in another page" in text_of(late)
    assert "ttl: 8" in text_of(late)
    assert "ttl: 9" in TaskDraft.objects.get().source
    assert "ttl: 8" in text_of(act(mira, "keep", posted | {"source": GOOD + "ttl: 8\n"}))
    assert "ttl: 8" in TaskDraft.objects.get().source


def test_an_open_draft_is_told_when_opened_again_and_taken_over_as_it_is_kept(
    mira: Client, world: World
) -> None:
    draft = uuid4()
    kept(world, draft, seat=ONE)
    page = text_of(mira.get(f"/tasks/new?draft={draft}"))
    assert "This draft is open in another page" in page
    assert "<fieldset data-seated disabled>" in page
    act(mira, "take", form_of("title: what a locked page held\n", draft))
    assert TaskDraft.objects.get().source == GOOD
    assert "open in another page" not in text_of(mira.get(f"/tasks/new?draft={draft}"))


@pytest.mark.parametrize("address", ["check", "publish", "seat"])
def test_a_locked_page_sends_no_words_and_so_writes_over_none(
    mira: Client, world: World, address: str
) -> None:
    draft = uuid4()
    kept(world, draft, seat=ONE)
    for do in ("keep", "fork"):
        answer = mira.post(f"/tasks/new/{address}", {"draft": str(draft), "seat": TWO, "do": do})
        assert answer["Location"] == f"/tasks/new?draft={draft}"
    assert TaskDraft.objects.get().source == GOOD
    assert not Task.objects.exists()


def test_what_was_typed_over_a_foreign_change_can_be_kept_as_another_draft(
    mira: Client, world: World
) -> None:
    draft = uuid4()
    kept(world, draft, seat=ONE)
    act(mira, "fork", form_of("title: mine\n", draft))
    assert {row.title for row in TaskDraft.objects.all()} == {"Dates", "mine"}


def test_a_page_that_goes_leaves_its_seat_and_its_last_words(mira: Client, world: World) -> None:
    draft = uuid4()
    kept(world, draft, seat=ONE)
    answer = act(mira, "leave", form_of("title: last words\n", draft, seat=ONE))
    row = TaskDraft.objects.get()
    assert (answer.status_code, row.title, row.seat) == (204, "last words", "")
    assert act(mira, "sit", {"draft": str(draft), "seat": TWO}).status_code == 204
    assert act(mira, "sit", {"draft": str(draft), "seat": ONE}).status_code == 409


def test_a_draft_is_discarded_by_its_own_person_only(mira: Client, world: World) -> None:
    draft = uuid4()
    kept(world, draft)
    drafts.discard(world.ben.pk, draft)
    assert TaskDraft.objects.exists()
    assert "The draft is gone." in text_of(act(mira, "discard", form_of(GOOD, draft)))
    assert not TaskDraft.objects.exists()


def test_a_draft_becomes_one_task_of_the_person(mira: Client, world: World) -> None:
    posted = form_of(GOOD + "dependsOn: []\n")
    answer = mira.post("/tasks/new/publish", posted, follow=True)
    task = Task.objects.get()
    assert f"{task} is open in the pool billing." in text_of(answer)
    assert (task.title, task.preparer_id, task.state) == ("Dates", world.mira.pk, State.OPEN)
    assert History.objects.get().source == Source.WEB
    again = mira.post("/tasks/new/publish", posted)
    assert again["Location"] == f"/tasks/{task}"
    assert Task.objects.count() == 1


def test_a_task_that_was_made_is_found_by_its_key_when_the_draft_did_not_hear_of_it(mira: Client) -> None:
    posted = form_of(GOOD)
    mira.post("/tasks/new/publish", posted)
    TaskDraft.objects.all().delete()
    assert mira.post("/tasks/new/publish", posted)["Location"] == f"/tasks/{Task.objects.get()}"
    other = mira.post("/tasks/new/publish", posted | {"source": GOOD + "ttl: 90\n"})
    assert other.status_code in (409, 422)
    assert Task.objects.count() == 1


def test_a_published_draft_that_is_typed_in_again_can_become_another(mira: Client) -> None:
    posted = form_of(GOOD)
    mira.post("/tasks/new/publish", posted)
    later = posted | {"source": GOOD + "ttl: 90\n"}
    told = mira.post("/tasks/new/publish", later)
    assert told.status_code == 409
    assert f"This draft has become {Task.objects.get()}" in text_of(told)
    act(mira, "fork", later)
    fresh = TaskDraft.objects.get(published=None)
    mira.post("/tasks/new/publish", form_of(fresh.source, fresh.pk, version="1"))
    assert Task.objects.count() == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("title: Dates", "titel: Dates"), "line 1, column 1"),
        (("pool: billing\n", ""), "it names no pool"),
        (("pool: billing", "pool: sandbox"), "there is no pool sandbox in which you can write tasks"),
        (("pool: billing", "pool: billing\nreviewer: nobody"), "nobody is not a reviewer"),
        (("pool: billing", "pool: billing\nreviewPolicy: NONE"), "asks for a review"),
        (("pool: billing", "pool: billing\ndependsOn: [T-99999]"), "no task T-99999"),
        (("pool: billing", "pool: billing\nttl: 4000"), "ttl is at most 3600"),
    ],
)
def test_what_keeps_a_draft_from_being_published_is_said_and_it_stays(
    mira: Client, change: tuple[str, str], says: str
) -> None:
    posted = form_of(GOOD.replace(*change))
    answer = mira.post("/tasks/new/publish", posted)
    page = text_of(answer)
    assert 400 <= answer.status_code < 500
    assert says in page
    assert "Nothing was published" in page
    assert not Task.objects.exists()
    assert TaskDraft.objects.get().source == posted["source"]


def test_who_lost_the_right_meanwhile_publishes_nothing(mira: Client, world: World) -> None:
    Membership.objects.create(pool=world.sandbox, person=world.mira, right=Right.PREPARER)
    Membership.objects.filter(pool=world.billing, person=world.mira).delete()
    answer = mira.post("/tasks/new/publish", form_of(GOOD))
    assert 400 <= answer.status_code < 500
    assert not Task.objects.exists()


def test_drafts_that_became_tasks_are_forgotten_after_a_month(mira: Client, world: World) -> None:
    mira.post("/tasks/new/publish", form_of(GOOD))
    TaskDraft.objects.update(typed_at=timezone.now() - timedelta(days=31))
    mira.post("/tasks/new/publish", form_of(GOOD.replace("Dates", "Later")))
    assert [row.title for row in TaskDraft.objects.all()] == ["Later"]
    assert drafts.of(world.mira.pk) == []


def test_a_second_click_while_the_first_is_at_work_leads_to_the_draft(
    mira: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transitions, "create", lambda *_: Refused(Why.IN_PROGRESS))
    posted = form_of(GOOD)
    assert mira.post("/tasks/new/publish", posted)["Location"] == f"/tasks/new?draft={posted['draft']}"
    assert TaskDraft.objects.get().published is None
