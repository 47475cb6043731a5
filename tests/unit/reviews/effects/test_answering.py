"""/effects/<id>: who may say that an effect is sent, and for exactly what it holds."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from claims.models import Approval, Membership, Task
from claims.selectors import approvals, badges
from claims.selectors.seen import pools_of
from claims.vocabulary import ApprovalState, Right
from reviews.inbox import marks
from tests.support.effects import approvals as answers
from tests.unit.reviews.effects.conftest import Prepared, act
from tests.unit.reviews.world import World


def test_the_inbox_lists_what_waits_for_a_word_and_leads_to_it(ines: Client, mail: Prepared) -> None:
    body = ines.get("/reviews").content.decode()

    assert "1 effect waits for your word" in body
    assert "agent-7 asks to send mail" in body
    assert f'href="{mail.url}?next=/reviews"' in body


def test_the_page_shows_the_payload_what_it_is_bound_to_and_both_answers(
    ines: Client, mail: Prepared
) -> None:
    body = ines.get(mail.url).content.decode()

    assert "agent-7 asks to send this once. It cannot be taken back." in body
    assert "&quot;to&quot;: &quot;all&quot;" in body
    assert "Approve one permit" in body
    assert "Refuse it" in body
    assert "generation 1 and epoch 13 alone" in body


def test_an_approval_is_kept_and_the_effect_waits_no_longer(
    ines: Client, world: World, mail: Prepared
) -> None:
    status, body = act(ines, mail, "approve")

    assert status == 200
    assert answers(mail.id) == [ApprovalState.GRANTED]
    assert "Approved. One permit for mail" in body
    assert "Take the approval back" in body
    assert approvals.waiting(world.ines.pk, pools_of(world.ines.pk)) == []


@pytest.mark.parametrize(
    ("field", "other"), [("generation", "9"), ("epoch", "12"), ("doubt", "1"), ("digest", "sha256:0")]
)
def test_what_was_not_seen_is_not_approved_and_what_was_typed_stays(
    ines: Client, mail: Prepared, field: str, other: str
) -> None:
    status, body = act(ines, mail, "approve", **{field: other, "words": "checked the list"})

    assert status == 409
    assert answers(mail.id) == []
    assert "Nothing was changed" in body
    assert "checked the list</textarea>" in body
    assert "STALE_STATE" in body


def test_a_refusal_needs_a_reason_and_is_told_with_it(ines: Client, mail: Prepared) -> None:
    status, body = act(ines, mail, "refuse", words=" ")
    assert (status, answers(mail.id)) == (422, [])
    assert "Say why; the runner reads it." in body

    status, body = act(ines, mail, "refuse", words="the list is from last year")
    assert (status, answers(mail.id)) == (200, [ApprovalState.REFUSED])
    assert "the list is from last year" in body


def test_an_approval_is_taken_back_by_the_very_one_that_was_seen(ines: Client, mail: Prepared) -> None:
    act(ines, mail, "approve")
    standing = str(Approval.objects.get(effect_id=mail.id).id)

    status, _ = act(ines, mail, "revoke", approval="01900000-0000-7000-8000-000000000000")
    assert (status, answers(mail.id)) == (409, [ApprovalState.GRANTED])
    status, _ = act(ines, mail, "revoke", approval=standing)
    assert (status, answers(mail.id)) == (200, [ApprovalState.REVOKED])


def test_the_same_form_sent_twice_answers_once(ines: Client, mail: Prepared) -> None:
    for _ in range(2):
        status, _ = act(ines, mail, "approve", key="the-same-key")
        assert status == 200

    assert answers(mail.id) == [ApprovalState.GRANTED]


def _as_reviewer(world: World, who: User) -> None:
    Membership.objects.create(pool=world.billing, person=who, right=Right.REVIEWER)


def test_who_owns_the_agent_or_wrote_the_task_is_not_asked_and_cannot_answer(
    client: Client, world: World, mail: Prepared
) -> None:
    _as_reviewer(world, world.noor)
    client.force_login(world.noor)
    body = client.get(mail.url).content.decode()

    assert "You own the agent that would send it" in body
    assert "Approve one permit" not in body
    assert approvals.waiting(world.noor.pk, pools_of(world.noor.pk)) == []
    status, body = act(client, mail, "approve")
    assert (status, answers(mail.id)) == (403, [])
    assert "SELF_REVIEW" in body


def test_a_reviewer_s_right_is_needed_and_any_right_to_look(
    client: Client, world: World, mail: Prepared
) -> None:
    client.force_login(world.mira)
    assert "Only a reviewer of billing answers" in client.get(mail.url).content.decode()
    assert act(client, mail, "approve")[0] == 403

    client.force_login(world.stranger)
    assert client.get(mail.url).status_code == 404
    assert client.post(f"{mail.url}/act", {"do": "approve"}).status_code == 404
    assert answers(mail.id) == []


@pytest.mark.parametrize("address", ["nonsense", "0" * 64, "é"])
def test_what_is_no_effect_is_not_found(ines: Client, address: str) -> None:
    assert ines.get(f"/effects/{address}").status_code == 404


def test_the_badge_counts_deliveries_and_effects_together(
    world: World, tasks: dict[str, Task], mail: Prepared
) -> None:
    pools = pools_of(world.ines.pk)

    seat = marks.seat_of(world.ines.pk, pools)
    assert badges.reviews_waiting(seat) == 3 + len(approvals.waiting(world.ines.pk, pools)) == 4
