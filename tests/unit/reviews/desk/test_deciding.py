"""Deciding: the draft is kept, the transition decides, and whatever it answers no word is lost."""

from __future__ import annotations

from uuid import uuid4

from django.test import Client

from claims.models import CanonicalCommit, Decision, Delivery, History, Task
from claims.vocabulary import State
from reviews.models import CommentDraft, Draft, VerdictDraft
from tests.support import deliveries
from tests.unit.reviews.world import World, as_person, done

ALL_MET = {f"verdict-{number}": "met" for number in range(1, 5)}


def form(delivery: Delivery, do: str, **fields: str) -> dict[str, str]:
    """The decision's form as the page has it."""
    return {"subject": delivery.subject_digest, "key": str(uuid4()), "do": do, **fields}


def decide(client: Client, delivery: Delivery, posted: dict[str, str]) -> tuple[int, str]:
    answer = client.post(f"/reviews/{delivery.pk}/decide", posted)
    return answer.status_code, answer.content.decode()


def test_accept_commits_and_the_page_says_it_in_the_servers_words(ines: Client, delivery: Delivery) -> None:
    answer = ines.post(f"/reviews/{delivery.pk}/decide", form(delivery, "accept", **ALL_MET), follow=True)

    assert Task.objects.get(pk=delivery.task_id).state == State.DONE
    assert CanonicalCommit.objects.get(task_id=delivery.task_id).reviewer.username == "ines"
    assert "is done: round 1 is its canonical result" in answer.content.decode()
    assert "Ines Halvorsen accepted round 1" in answer.content.decode()
    assert not VerdictDraft.objects.exists()


def test_the_same_form_twice_decides_once(ines: Client, delivery: Delivery) -> None:
    posted = form(delivery, "accept", **ALL_MET)

    first = ines.post(f"/reviews/{delivery.pk}/decide", posted)
    second = ines.post(f"/reviews/{delivery.pk}/decide", posted)

    assert (first.status_code, second.status_code) == (302, 302)
    assert Decision.objects.count() == 1


def test_request_changes_carries_verdicts_note_and_comments_to_the_agent(
    ines: Client, delivery: Delivery
) -> None:
    path = "app/views.py"
    comment = {"comment": "Name it rows.", "comment_place": f"file {path}", "comment_line": "12"}
    posted = form(
        delivery,
        "changes",
        **ALL_MET | {"verdict-4": "not-met"},
        **{"note-4": "Four queries."},
        note="Once more.",
        **comment,
    )

    status, _ = decide(ines, delivery, posted)

    decision = Decision.objects.get()
    assert status == 302
    assert decision.verdicts["4"] == {"verdict": "NOT_MET", "note": "Four queries."}
    assert decision.note == "Once more."
    assert decision.comments == [{"path": path, "line": 12, "text": "Name it rows."}]
    assert Task.objects.get(pk=delivery.task_id).state == State.CLAIMED


def test_a_verdict_that_is_not_met_needs_a_note_beside_it(ines: Client, delivery: Delivery) -> None:
    status, body = decide(ines, delivery, form(delivery, "changes", **{"verdict-2": "not-met"}))

    assert status == 422
    assert "Say what is not met: the agent reads only this." in body
    assert 'id="n2" name="note-2" aria-invalid="true"' in body
    assert not Decision.objects.exists()


def test_accept_with_an_open_criterion_is_refused_by_the_server(ines: Client, delivery: Delivery) -> None:
    status, body = decide(ines, delivery, form(delivery, "accept", **{"verdict-1": "met"}))

    assert status == 422
    assert "checked" in body
    assert not Decision.objects.exists()


def test_reject_needs_a_reason_in_words(ines: Client, delivery: Delivery) -> None:
    status, body = decide(ines, delivery, form(delivery, "reject"))
    assert status == 422
    assert "Say why it is rejected." in body

    status, _ = decide(ines, delivery, form(delivery, "reject", note="Another way is wanted."))
    assert status == 302
    assert Task.objects.get(pk=delivery.task_id).state == State.OPEN


def test_an_excluded_file_is_accepted_only_with_a_reason_and_marked(
    ines: Client, world: World, task: Task
) -> None:
    delivery = deliveries.deliver(task, world.agents["agent-7"])

    status, body = decide(ines, delivery, form(delivery, "accept", **ALL_MET))
    assert status == 409
    assert "data/plans.json" in body

    status, _ = decide(
        ines, delivery, form(delivery, "accept", **ALL_MET, reason="The plan had to be renamed.")
    )
    assert status == 302
    assert Decision.objects.get().marks == ["SCOPE_VIOLATION"]


def test_another_reviewer_steps_in_only_with_a_reason(
    client: Client, world: World, delivery: Delivery
) -> None:
    client.force_login(world.ben)

    status, body = decide(client, delivery, form(delivery, "accept", **ALL_MET))
    assert status == 422
    assert "Say why you step in." in body

    status, _ = decide(client, delivery, form(delivery, "accept", **ALL_MET, reason="Ines is away."))
    assert status == 302
    assert Decision.objects.get().marks == ["STEPPED_IN"]


def test_the_maker_is_told_that_another_person_decides(
    client: Client, world: World, delivery: Delivery
) -> None:
    world.agents["agent-7"].owner = world.ben
    world.agents["agent-7"].save()
    mine = deliveries.deliver(deliveries.new_task(world.billing), world.agents["agent-7"])
    client.force_login(world.ben)

    body = client.get(f"/reviews/{mine.pk}").content.decode()
    assert "agent-7 is an agent of yours: maker is not checker. Ines Halvorsen can." in body
    status, body = decide(client, mine, form(mine, "accept", **ALL_MET))
    assert status == 403
    assert "another person decides" in body


def test_a_draft_is_kept_field_by_field_and_found_again(ines: Client, delivery: Delivery) -> None:
    address = f"/reviews/{delivery.pk}/save"
    ines.post(address, {"verdict-1": "met"}, headers={"HX-Request": "true"})
    ines.post(address, {"note-1": "good"}, headers={"HX-Request": "true"})
    ines.post(address, {"note": "overall"}, headers={"HX-Request": "true"})

    row = VerdictDraft.objects.get(criterion=1)
    assert (row.verdict, row.note) == ("MET", "good")
    assert Draft.objects.get().note == "overall"
    body = ines.get(f"/reviews/{delivery.pk}").content.decode()
    assert 'name="verdict-1" value="met" checked' in body
    assert ">good</textarea>" in body


def test_without_script_the_button_saves_and_leads_to_the_sheet(ines: Client, delivery: Delivery) -> None:
    answer = ines.post(f"/reviews/{delivery.pk}/save", {**ALL_MET, "then": "accept"}, follow=True)

    assert answer.redirect_chain[-1][0] == f"/reviews/{delivery.pk}/sheet/accept#sheet-accept"
    body = answer.content.decode()
    assert 'id="sheet-accept" data-sheet-dialog="accept" aria-labelledby="accept-h" open' in body
    assert "All 4 criteria are met by your word." in body


def test_comments_are_added_and_taken_back(ines: Client, delivery: Delivery) -> None:
    address = f"/reviews/{delivery.pk}/save"
    ines.post(
        address,
        {
            "comment": "Name it rows.",
            "comment_place": "file app/views.py",
            "comment_line": "12",
            "comment_do": "add",
        },
    )
    comment = CommentDraft.objects.get()
    assert (comment.path, comment.line) == ("app/views.py", 12)
    assert Draft.objects.get().comment == ""

    ines.post(address, {"remove_comment": str(comment.pk)})
    assert not CommentDraft.objects.exists()


def test_a_decision_by_another_meanwhile_shows_the_conflict_and_keeps_every_word(
    ines: Client, world: World, delivery: Delivery
) -> None:
    judged = world_judgement(delivery)
    done(judged(world))
    posted = form(
        delivery,
        "changes",
        **{"verdict-2": "not-met", "note-2": "It always says line 1."},
        note="Two things.",
    )

    status, body = decide(ines, delivery, posted)

    assert status == 409
    assert "Your decision was not recorded: round 1 has been decided" in body
    assert "Ben Okafor sent round 1 back" in body
    assert "It always says line 1." in body
    assert "Two things." in body
    assert "ALREADY_DECIDED" in body


def world_judgement(delivery: Delivery):  # type: ignore[no-untyped-def]
    """Ben sends the round back, stepping in."""
    from claims import transitions
    from claims.decide import Judgement

    return lambda world: transitions.request_changes(
        as_person(world.ben),
        delivery.pk,
        Judgement(delivery.subject_digest, {}, "The header still shows.", "Ines is away."),
    )


def test_a_draft_moves_to_the_newer_round_and_verdicts_only_with_the_same_evidence(
    ines: Client, world: World, task: Task, delivery: Delivery
) -> None:
    typed = {"verdict-1": "met", "verdict-4": "met", "note-1": "reads well", "note": "Keep it."}
    ines.post(f"/reviews/{delivery.pk}/save", typed, headers={"HX-Request": "true"})
    done(world_judgement(delivery)(world))
    changed = deliveries.usual_items("Other words", deliveries.IN_SCOPE)
    second = deliveries.deliver(task, world.agents["agent-7"], deliveries.next_fence(task), changed)

    body = ines.get(f"/reviews/{delivery.pk}/draft").content.decode()
    assert "Move my draft to round 2" in body
    assert body.count("<b>Moves</b>") == 1
    assert body.count("<b>Judge again</b>") == 1

    answer = ines.post(
        f"/reviews/{delivery.pk}/draft/settle", {"do": "move", "note-1": "reads well, really"}, follow=True
    )

    assert answer.redirect_chain[-1][0] == f"/reviews/{second.pk}"
    rows = {
        row.criterion: (row.verdict, row.note) for row in VerdictDraft.objects.filter(delivery_id=second.pk)
    }
    assert rows[1] == ("", "reads well, really")
    assert rows[4] == ("MET", "")
    assert Draft.objects.get(delivery_id=second.pk).note == "Keep it."
    assert not VerdictDraft.objects.filter(delivery_id=delivery.pk).exists()


def test_a_superseded_round_is_read_only_and_leads_to_the_current_one(
    ines: Client, world: World, task: Task, delivery: Delivery
) -> None:
    done(world_judgement(delivery)(world))
    second = deliveries.deliver(task, world.agents["agent-7"], deliveries.next_fence(task))

    body = ines.get(f"/reviews/{delivery.pk}").content.decode()

    assert "Round 2 arrived. You are reading round 1." in body
    assert body.count('<fieldset class="seg verdict" disabled>') == 4
    assert f'<a class="btn primary" href="/reviews/{second.pk}">Go to round 2</a>' in body
    assert ines.get(f"/reviews/{delivery.pk}/compare").status_code == 200


def test_met_of_the_round_before_is_kept_by_one_press_where_the_evidence_is_the_same(
    ines: Client, task: Task, world: World, delivery: Delivery
) -> None:
    decide(ines, delivery, form(delivery, "changes", **ALL_MET | {"verdict-1": "not-met", "note-1": "no"}))
    changed = deliveries.usual_items("Other words", deliveries.IN_SCOPE)
    second = deliveries.deliver(task, world.agents["agent-7"], deliveries.next_fence(task), changed)

    body = ines.get(f"/reviews/{second.pk}").content.decode()
    assert 'name="keep" value="4"' in body
    assert 'name="keep" value="3"' not in body
    assert "The evidence has changed since." in body

    ines.post(f"/reviews/{second.pk}/save", {"keep": "4"})
    assert VerdictDraft.objects.get(delivery_id=second.pk, criterion=4).verdict == "MET"


def test_odd_bytes_and_endless_fields_are_kept_as_far_as_they_go(ines: Client, delivery: Delivery) -> None:
    odd = {
        "note": "a\x00b\r\nc",
        "comment": "x",
        "comment_place": f"file {'y' * 5_000}",
        "comment_line": "1" * 50,
        "verdict-1": "odd",
    }
    ines.post(f"/reviews/{delivery.pk}/save", odd | {"remove_comment": "9" * 40, "keep": "999999"})

    draft = Draft.objects.get()
    assert (draft.note, len(draft.comment_path), draft.comment_line) == ("ab\nc", 1_000, None)
    assert VerdictDraft.objects.get(criterion=1).verdict == ""
    status, _ = decide(ines, delivery, form(delivery, "changes") | {"key": "\x00" * 400, "subject": "\x00"})
    assert status == 409


def test_a_name_or_a_request_id_beyond_all_bounds_keeps_nobody_from_deciding(
    ines: Client, delivery: Delivery, world: World
) -> None:
    world.ines.first_name, world.ines.last_name = "I" * 150, "H" * 150
    world.ines.save()
    posted = form(delivery, "reject", note="No.")
    answer = ines.post(f"/reviews/{delivery.pk}/decide", posted, headers={"X-Request-Id": "x" * 5_000})
    assert answer.status_code == 302, answer.content[:300]
    (told,) = History.objects.filter(task_id=delivery.task_id, verb="reject")
    assert told.actor_name == world.ines.username
    assert "xxx" not in told.request_id


def test_a_note_without_a_verdict_is_not_dropped_but_asked_about(ines: Client, delivery: Delivery) -> None:
    words = {
        "verdict-1": "not-met",
        "note-1": "It scrolls.",
        "note-3": "Only half of it.",
        "key": str(uuid4()),
    }
    posted = {**words, "subject": delivery.subject_digest, "do": "changes"}
    answer = ines.post(f"/reviews/{delivery.pk}/decide", posted)

    assert answer.status_code == 422
    assert "it goes out with its verdict" in answer.content.decode()
    assert "Only half of it." in answer.content.decode()
    assert not Decision.objects.filter(delivery=delivery).exists()
