"""Comments on lines, outputs and points: kept as drafts, edited, sent as one message, carried over only when asked."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client

from claims import transitions
from claims.decide import Judgement
from claims.models import Decision, Delivery, Task
from claims.selectors.api.grants import review_before
from claims.selectors.contract import last_review
from reviews.desk import places
from reviews.desk.places import Place
from reviews.models import CommentDraft, Draft
from tests.support import deliveries
from tests.unit.reviews.world import World, as_person, done

SHOT, OUTPUT, FILE = "billing-empty-390", "tests", "app/views.py"
SENT = [
    {"path": FILE, "line": 12, "text": "Name it rows."},
    {"command": OUTPUT, "stream": "output", "line": 3, "text": "Why is it skipped?"},
    {"screenshot": SHOT, "x": 512, "y": 233, "text": "Too close."},
    {"path": "", "line": None, "text": "Well done otherwise."},
]


def add(client: Client, delivery: Delivery, place: str, text: str, **fields: str) -> None:
    posted = {"comment": text, "comment_place": place, "comment_do": "add", **fields}
    client.post(f"/reviews/{delivery.pk}/save", posted)


def add_all(client: Client, delivery: Delivery) -> None:
    add(client, delivery, f"file {FILE}", "Name it rows.", comment_line="12")
    add(client, delivery, f"command {OUTPUT}", "Why is it skipped?", comment_line="3")
    add(client, delivery, f"screenshot {SHOT}", "Too close.", comment_x="512", comment_y="233")
    add(client, delivery, "", "Well done otherwise.")


def changes(client: Client, delivery: Delivery, **fields: str) -> int:
    posted = {"subject": delivery.subject_digest, "key": str(uuid4()), "do": "changes", "note": "Again."}
    return client.post(f"/reviews/{delivery.pk}/decide", posted | fields).status_code


def second_round(
    world: World, task: Task, delivery: Delivery, label: str = "Other words", who: str = "ines"
) -> Delivery:
    """The next round, the one before sent back with all comments where it is still open."""
    if Delivery.objects.get(pk=delivery.pk).state == "PENDING":
        judged = Judgement(delivery.subject_digest, {}, "Once more.", "On leave.")
        person = as_person(getattr(world, who))
        done(transitions.request_changes(person, delivery.pk, judged, SENT if who == "ines" else []))
    items = deliveries.usual_items(label, deliveries.IN_SCOPE)
    return deliveries.deliver(task, world.agents["agent-7"], deliveries.next_fence(task), items)


def test_every_kind_of_comment_goes_out_in_the_one_message_the_agent_reads(
    ines: Client, delivery: Delivery
) -> None:
    add_all(ines, delivery)
    assert changes(ines, delivery) == 302

    assert Decision.objects.get().comments == SENT
    review = last_review(delivery.task_id)
    assert review is not None
    assert review.as_json()["comments"] == SENT
    generation = Task.objects.get(pk=delivery.task_id).claim_generation
    assert review_before(delivery.task_id, generation) is not None
    assert not CommentDraft.objects.exists()


def test_they_are_drawn_where_they_point_and_numbered(ines: Client, delivery: Delivery) -> None:
    add_all(ines, delivery)
    body = ines.get(f"/reviews/{delivery.pk}").content.decode()
    assert '<svg x="51.2%" y="23.3%"><circle r="11"/><text>3</text></svg>' in body
    assert "output of tests, line 3" in body
    assert f"/reviews/{delivery.pk}/commands/1?tab=commands&amp;line=1#o1-3" in body
    assert "billing-empty-390 at 51.2% across, 23.3% down" in body


def test_what_was_sent_is_drawn_on_the_round_it_was_sent_for(ines: Client, delivery: Delivery) -> None:
    add_all(ines, delivery)
    changes(ines, delivery)
    body = ines.get(f"/reviews/{delivery.pk}").content.decode()
    assert '<svg x="51.2%" y="23.3%"><circle r="11"/><text>3</text></svg>' in body
    assert "<code>output of tests, line 3</code>" in body


def test_a_draft_is_edited_in_place_and_an_emptied_one_does_not_go_out(
    ines: Client, delivery: Delivery
) -> None:
    add_all(ines, delivery)
    first, second, *_ = CommentDraft.objects.order_by("pk")
    edited = {f"comment-{first.pk}": "Call it rows.", f"comment-{second.pk}": " "}
    ines.post(f"/reviews/{delivery.pk}/save", edited, headers={"HX-Request": "true"})
    assert CommentDraft.objects.get(pk=first.pk).text == "Call it rows."
    assert changes(ines, delivery) == 302
    assert [one["text"] for one in Decision.objects.get().comments] == [
        "Call it rows.",
        "Too close.",
        "Well done otherwise.",
    ]


def test_nobody_edits_or_removes_the_drafts_of_another(
    client: Client, world: World, delivery: Delivery
) -> None:
    client.force_login(world.ines)
    add(client, delivery, "", "Mine.")
    comment = CommentDraft.objects.get()
    client.force_login(world.ben)
    address = f"/reviews/{delivery.pk}/save"
    client.post(address, {f"comment-{comment.pk}": "Not yours.", "remove_comment": str(comment.pk)})
    assert CommentDraft.objects.get().text == "Mine."


def test_without_script_a_link_of_a_screenshot_chooses_it_for_the_comment(
    ines: Client, delivery: Delivery
) -> None:
    body = ines.get(f"/reviews/{delivery.pk}?tab=talk&on=screenshot%20{SHOT}").content.decode()
    assert f'<option value="screenshot {SHOT}" selected>' in body
    assert 'data-place="screenshot"' in body


@pytest.mark.parametrize(
    ("value", "line", "x", "y", "place"),
    [
        ("", "3", "", "", Place()),
        ("folder a", "3", "", "", Place()),
        ("file a b", "3", "9", "9", Place("file", "a b", 3)),
        ("command tests", "0", "", "", Place("command", "tests")),
        ("command tests", "²", "", "", Place("command", "tests")),
        ("screenshot s", "3", "5000", "0", Place("screenshot", "s", None, 1_000, 0)),
        ("screenshot s", "", "5", "", Place("screenshot", "s")),
    ],
)
def test_a_place_is_read_as_far_as_it_makes_sense(
    value: str, line: str, x: str, y: str, place: Place
) -> None:
    assert places.place_of(value, line, x, y) == place


@pytest.mark.parametrize("comment", SENT, ids=str)
def test_a_place_reads_back_as_it_was_written(comment: dict[str, object]) -> None:
    assert {**places.from_json(comment).as_json(), "text": comment["text"]} == comment


def test_only_comments_that_are_ticked_move_and_no_word_is_lost(
    ines: Client, world: World, task: Task, delivery: Delivery
) -> None:
    add_all(ines, delivery)
    second = second_round(world, task, delivery, who="ben")

    body = ines.get(f"/reviews/{delivery.pk}/draft").content.decode()
    ticked = body.count('name="carry"'), body.count(" checked> Carry it over")
    assert ticked == (4, 3), "the picture has changed, the diff, the output and the whole have not"
    assert "although what it is about has changed" in body

    file, output, shot, _ = CommentDraft.objects.order_by("pk")
    chosen = {"do": "move", "choice": "1", "carry": [str(file.pk)], f"comment-{shot.pk}": "Far too close."}
    answer = ines.post(f"/reviews/{delivery.pk}/draft/settle", chosen, follow=True)

    assert "3 comments stayed with round 1." in answer.content.decode()
    assert [row.text for row in CommentDraft.objects.filter(delivery_id=second.pk)] == ["Name it rows."]
    left = set(CommentDraft.objects.filter(delivery_id=delivery.pk).values_list("text", flat=True))
    assert left == {output.text, "Far too close.", "Well done otherwise."}


def test_a_comment_whose_evidence_changed_moves_without_its_point(
    ines: Client, world: World, task: Task, delivery: Delivery
) -> None:
    add(ines, delivery, f"screenshot {SHOT}", "Too close.", comment_x="512", comment_y="233")
    second = second_round(world, task, delivery, who="ben")
    ines.post(f"/reviews/{delivery.pk}/draft/settle", {"do": "move"})
    row = CommentDraft.objects.get(delivery_id=second.pk)
    assert (row.kind, row.path, row.x, row.text) == ("screenshot", SHOT, None, "Too close.")


def test_my_comments_of_the_round_before_are_offered_again_where_nothing_has_changed(
    ines: Client, world: World, task: Task, delivery: Delivery
) -> None:
    second = second_round(world, task, delivery)
    body = ines.get(f"/reviews/{second.pk}").content.decode()
    assert body.count('name="again"') == 2, "the line and the output; the picture has changed"
    assert not CommentDraft.objects.exists()

    ines.post(f"/reviews/{second.pk}/save", {"again": "2"})
    ines.post(f"/reviews/{second.pk}/save", {"again": "3"})
    row = CommentDraft.objects.get()
    assert (row.kind, row.path, row.line, row.text) == ("command", OUTPUT, 3, "Why is it skipped?")
    assert ines.get(f"/reviews/{second.pk}").content.decode().count('name="again"') == 1


def test_nobody_is_offered_what_another_said(
    client: Client, world: World, task: Task, delivery: Delivery
) -> None:
    second = second_round(world, task, delivery)
    client.force_login(world.ben)
    assert 'name="again"' not in client.get(f"/reviews/{second.pk}").content.decode()


def test_the_comment_being_written_keeps_its_place_and_moves_with_it(
    ines: Client, world: World, task: Task, delivery: Delivery
) -> None:
    typed = {"comment": "Too cl", "comment_place": f"screenshot {SHOT}", "comment_x": "10", "comment_y": "20"}
    ines.post(f"/reviews/{delivery.pk}/save", typed, headers={"HX-Request": "true"})
    draft = Draft.objects.get()
    assert (draft.comment_kind, draft.comment_path, draft.comment_x) == ("screenshot", SHOT, 10)
    second = second_round(world, task, delivery, who="ben")
    ines.post(f"/reviews/{delivery.pk}/draft/settle", {"do": "move"})
    moved = Draft.objects.get(delivery_id=second.pk)
    assert (moved.comment, moved.comment_kind, moved.comment_path) == ("Too cl", "screenshot", SHOT)


def test_the_round_picker_lists_every_round_with_what_became_of_it(
    ines: Client, world: World, task: Task, delivery: Delivery
) -> None:
    second = second_round(world, task, delivery)
    body = ines.get(f"/reviews/{second.pk}").content.decode()
    assert 'data-key="i" data-opens="round-picker"' in body
    assert "sent back by Ines Halvorsen" in body
    assert f'href="/reviews/{second.pk}/compare?base=1"' in body
