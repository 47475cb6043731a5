"""/tasks/<task>/attempts: attempts with evidence side by side, and one of them adopted by an operator."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.test import Client

from claims import evidence, transitions
from claims.fences import Fence
from claims.models import Attempt, Delivery, Pool, Task
from claims.outcomes import Progressed, Staged
from claims.transitions import StagedResult
from claims.vocabulary import DeliveryState, Gate, State
from tests.support import deliveries
from tests.unit.reviews.world import World, as_agent, done

QUERIES = 15
OTHER = deliveries.IN_SCOPE.replace(b"No invoices yet.", b"Nothing to pay.")
"""The same change but for one line of one of its two files."""


@pytest.fixture(autouse=True)
def _own_evidence(settings: LazySettings, tmp_path: object) -> None:
    """Bytes of one test stay in its own folder."""
    storages = dict(settings.STORAGES)
    storages["evidence"] = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(tmp_path)},
    }
    settings.STORAGES = storages


@dataclass
class Scene:
    """agent-3 lost its claim and staged late; agent-7 delivered round 1, which waits for Ines."""

    task: Task
    lost: Fence
    delivery: Delivery

    @property
    def late(self) -> str:
        return str(self.lost.attempt_id)


def stage_late(world: World, fence: Fence, content: bytes = OTHER) -> None:
    """The lost runner comes back and stages a diff."""
    sha256 = hashlib.sha256(content).hexdigest()
    evidence.keep([content], sha256, len(content))
    caller = as_agent(world.agents["agent-3"])
    done(transitions.add_file(caller, fence, sha256, len(content), "text/x-diff"))
    items = [deliveries.item("diff", "diff", content, (1, 2))[0]]
    staged = done(transitions.stage(caller, fence, StagedResult({"branch": "late"}, items)))
    assert isinstance(staged, Staged)
    assert staged.late


@pytest.fixture
def scene(world: World) -> Scene:
    task = deliveries.new_task(world.billing, reviewer="ines")
    lost = world.claim(task, "agent-3")
    told = transitions.progress(
        as_agent(world.agents["agent-3"]), lost, "half done", {"seconds": 90, "tokens": 4_100}
    )
    assert isinstance(told, Progressed)
    world.run_out(task)
    world.release_quiet(task)
    delivery = deliveries.deliver(
        task, world.agents["agent-7"], items=deliveries.usual_items(diff=deliveries.IN_SCOPE)
    )
    stage_late(world, lost)
    task.refresh_from_db()
    return Scene(task, lost, delivery)


def page_of(client: Client, task: Task, query: str = "") -> str:
    answer = client.get(f"/tasks/{task}/attempts{query}")
    assert answer.status_code == 200
    return unescape(answer.content.decode()).replace("\xa0", " ")


def adopt(client: Client, task: Task, **fields: str) -> tuple[int, str]:
    posted = {
        "key": str(uuid4()),
        "version": str(task.state_version),
        "runner": "agent-9",
        "reason": "it is shorter",
    }
    answer = client.post(f"/tasks/{task}/attempts/adopt", posted | fields, follow=True)
    return answer.status_code, unescape(answer.content.decode()).replace("\xa0", " ")


def column(body: str, generation: int) -> str:
    return body.split(f'id="gen-{generation}"')[1].split("</section>")[0]


def test_attempts_stand_side_by_side_with_what_became_of_each(ines: Client, scene: Scene) -> None:
    body = page_of(ines, scene.task)

    late, current = column(body, 1), column(body, 3)
    assert "2 attempts at" in body
    assert "agent-3, gen 1" in late
    assert "epoch 13 · gen 1 · cancel 0" in late
    assert "late: after its fence was lost" in late
    assert "1 min, 4,100 tokens" in late
    assert "half done" in late
    assert "Round 1 waits for its decision" in current
    assert "The header row is inside the branch now." in current
    assert f"/reviews/{scene.delivery.pk}" in current


def test_the_two_diffs_are_drawn_beside_each_other_where_they_differ(ines: Client, scene: Scene) -> None:
    body = page_of(ines, scene.task)
    beside = body.split('id="diff"')[1]

    assert "1 file both change alike." in beside
    assert "templates/billing.html" in beside
    assert "app/views.py" not in beside
    assert "Nothing to pay." in beside
    assert "No invoices yet." in beside
    ids = [part.split('"')[0] for part in beside.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


def test_an_operator_adopts_the_late_one_and_the_waiting_round_is_closed(ines: Client, scene: Scene) -> None:
    assert "Round 1 is closed undecided" in page_of(ines, scene.task)

    status, body = adopt(ines, scene.task, attempt=scene.late)

    scene.task.refresh_from_db()
    scene.delivery.refresh_from_db()
    attempt = Attempt.objects.get(pk=scene.task.attempt_id)
    assert (status, scene.task.state, scene.delivery.state) == (200, State.CLAIMED, DeliveryState.CLOSED)
    assert (str(attempt.adopted_from), attempt.agent.name) == (scene.late, "agent-9")
    assert attempt.claim_generation > scene.delivery.claim_generation
    assert "it must be delivered again" in body


def test_what_waits_for_its_decision_is_not_adopted_past_its_reviewer(ines: Client, scene: Scene) -> None:
    body = page_of(ines, scene.task)
    assert "It waits for its decision: a reviewer decides it." in column(body, 3)
    assert f'value="{scene.delivery.attempt_id}"' not in body

    status, body = adopt(ines, scene.task, attempt=str(scene.delivery.attempt_id))

    scene.delivery.refresh_from_db()
    assert (status, scene.delivery.state) == (422, DeliveryState.PENDING)
    assert "a reviewer decides it" in body


def test_a_page_that_is_old_changes_nothing_and_keeps_what_was_typed(
    ines: Client, world: World, scene: Scene
) -> None:
    version = scene.task.state_version
    world.send_back(scene.delivery, world.ines)

    status, body = adopt(ines, scene.task, attempt=scene.late, version=str(version), reason="its wording")

    assert status == 409
    assert "Nothing was changed" in body
    assert "its wording" in body
    assert "agent-7 holds the claim" in body


def test_what_is_missing_is_said_beside_the_field(ines: Client, scene: Scene) -> None:
    status, body = adopt(ines, scene.task, runner="", reason=" ")

    assert status == 422
    for sentence in (
        "Choose the evidence to go on from.",
        "Choose the agent that gets it.",
        "Say why; the reason",
    ):
        assert sentence in body


def test_sending_it_twice_adopts_once(ines: Client, scene: Scene) -> None:
    key = str(uuid4())
    for _ in range(2):
        assert adopt(ines, scene.task, attempt=scene.late, key=key)[0] == 200

    assert Attempt.objects.filter(task_id=scene.task.pk, adopted_from=scene.late).count() == 1


def test_a_reviewer_is_told_which_operators_to_ask(client: Client, world: World, scene: Scene) -> None:
    client.force_login(world.ben)
    body = page_of(client, scene.task)

    assert "ask an operator: Ines Halvorsen, Noor Haddad." in body
    assert "attempts/adopt" not in body
    assert adopt(client, scene.task, attempt=scene.late)[0] == 403
    scene.delivery.refresh_from_db()
    assert scene.delivery.state == DeliveryState.PENDING


def test_a_round_of_an_ended_epoch_can_be_adopted(ines: Client, scene: Scene) -> None:
    Pool.objects.filter(pk=scene.task.pool_id).update(scheduler_epoch=99)

    body = page_of(ines, scene.task)

    assert "of an ended epoch" in column(body, 3)
    assert f'value="{scene.delivery.attempt_id}"' in body


def test_a_closed_gate_or_a_final_task_says_why_nothing_can_be_adopted(
    ines: Client, world: World, scene: Scene
) -> None:
    Pool.objects.filter(pk=scene.task.pool_id).update(gate=Gate.DRAINING)
    assert "The gate of billing is closed" in page_of(ines, scene.task)
    Pool.objects.filter(pk=scene.task.pool_id).update(gate=Gate.OPEN)
    world.accept(scene.delivery, world.ines)

    body = page_of(ines, scene.task)

    assert "is done: its result stays" in body
    assert "attempts/adopt" not in body


def test_files_without_a_staged_result_are_shown_and_not_adopted(
    ines: Client, tasks: dict[str, Task]
) -> None:
    body = page_of(ines, tasks["told"])

    late = column(body, 1)
    assert "Uploaded, no result staged" in late
    assert "It staged no result that could be adopted." in late


def test_bytes_of_an_attempt_are_an_attachment_for_those_who_see_the_task(
    ines: Client, client: Client, world: World, scene: Scene
) -> None:
    sha256 = hashlib.sha256(OTHER).hexdigest()
    address = f"/tasks/{scene.task}/attempts/1/files/{sha256}"
    answer = ines.get(address)

    assert b"".join(answer.streaming_content) == OTHER  # type: ignore[attr-defined]
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert answer["Content-Disposition"] == f'attachment; filename="{scene.task}-gen-1-{sha256[:12]}.diff"'
    assert ines.get(address.replace("/1/", "/3/")).status_code == 404
    client.force_login(world.stranger)
    assert client.get(address).status_code == 404
    assert client.get(f"/tasks/{scene.task}/attempts").status_code == 404


def test_screenshots_of_both_are_paired_by_name_and_drawn_anew(
    ines: Client, world: World, scene: Scene
) -> None:
    name, shot = "billing-empty-390", deliveries.picture(390, label="Nothing to pay")
    sha256 = hashlib.sha256(shot).hexdigest()
    evidence.keep([shot], sha256, len(shot))
    caller = as_agent(world.agents["agent-3"])
    done(transitions.add_file(caller, scene.lost, sha256, len(shot), "image/png"))
    items = [
        deliveries.item("diff", "diff", OTHER, (1,))[0],
        deliveries.item(name, "screenshot", shot, (1,))[0],
    ]
    done(transitions.stage(caller, scene.lost, StagedResult({"late": 2}, items)))

    body = page_of(ines, scene.task).split('id="shots"')[1]

    assert f"/attempts/1/shots/{sha256}.png" in body
    assert body.count("No such screenshot.") == 1
    picture = ines.get(f"/tasks/{scene.task}/attempts/1/shots/{sha256}.png")
    assert (picture.status_code, picture["Content-Type"]) == (200, "image/png")
    assert picture["Content-Security-Policy"] == "sandbox; default-src 'none'"
    diff = hashlib.sha256(OTHER).hexdigest()
    assert ines.get(f"/tasks/{scene.task}/attempts/1/shots/{diff}.png").status_code == 404


def test_bytes_that_are_no_longer_kept_are_said(ines: Client, scene: Scene, tmp_path: Any) -> None:
    for file in tmp_path.rglob("*"):
        if file.is_file():
            file.unlink()

    assert "does not have the bytes of one of the two any more" in page_of(ines, scene.task)


def test_any_two_are_compared_by_address(ines: Client, world: World, scene: Scene) -> None:
    next_attempt = world.send_back(scene.delivery, world.ines)
    fence = deliveries.next_fence(scene.task)
    assert fence.attempt_id == next_attempt
    deliveries.deliver(
        scene.task, world.agents["agent-7"], fence, deliveries.usual_items(diff=deliveries.IN_SCOPE)
    )

    body = page_of(ines, scene.task, "?a=4&b=3")

    assert "The two change the same files in the same way." in body
    assert "2 files both change alike." in body
    assert 'name="a"' in body


def test_a_task_without_evidence_says_so(ines: Client, tasks: dict[str, Task]) -> None:
    assert "Nothing was handed over yet." in page_of(ines, tasks["open"])


def test_the_page_asks_the_database_a_fixed_number_of_times(
    ines: Client, scene: Scene, django_assert_num_queries: Any
) -> None:
    page_of(ines, scene.task)

    with django_assert_num_queries(QUERIES):
        page_of(ines, scene.task)


def test_the_decision_page_and_the_task_lead_to_other_evidence(ines: Client, scene: Scene) -> None:
    link = f'href="/tasks/{scene.task}/attempts">1 other attempt has evidence</a>'
    for address in (f"/reviews/{scene.delivery.pk}", f"/tasks/{scene.task}/spec"):
        assert link in ines.get(address).content.decode()


def test_a_round_that_was_sent_back_is_no_other_evidence_for_the_next_one(ines: Client, world: World) -> None:
    first = world.delivered("Dunning", reviewer="ines")
    world.send_back(first, world.ines)
    second = world.deliver(first.task, deliveries.next_fence(first.task))

    assert "/attempts" not in ines.get(f"/reviews/{second.pk}").content.decode()


def test_of_an_open_task_the_page_says_how_many_attempts_left_evidence(ines: Client, world: World) -> None:
    task = world.write("Dunning")
    lost = world.claim(task, "agent-3")
    world.run_out(task)
    world.release_quiet(task)
    stage_late(world, lost)

    assert ">1 attempt has evidence</a>" in ines.get(f"/tasks/{task}/spec").content.decode()


def changed(path: str, lines: int, word: str) -> str:
    body = "".join(f"-old({number})\n+new({number})  # {word}\n" for number in range(lines // 2))
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{lines // 2} +1,{lines // 2} @@\n{body}"


@pytest.mark.parametrize(("files", "lines"), [(12, 4_168), (500, 100), (2_000, 24)])
def test_two_diffs_of_fifty_thousand_lines_are_compared_and_drawn_within_bounds(
    ines: Client, world: World, files: int, lines: int
) -> None:
    one, other = (
        "".join(changed(f"app/part{number}/file.py", lines, word) for number in range(files)).encode()
        for word in ("one", "other")
    )
    task = deliveries.new_task(world.billing, reviewer="ines")
    lost = world.claim(task, "agent-3")
    world.run_out(task)
    world.release_quiet(task)
    deliveries.deliver(task, world.agents["agent-7"], items=[deliveries.item("diff", "diff", one, (1,))])
    stage_late(world, lost, other)

    answer = ines.get(f"/tasks/{task}/attempts")
    body = unescape(answer.content.decode()).replace("\xa0", " ")

    assert len(answer.content) < 400_000
    assert "not compared, to keep this page quick" in body
    alone = page_of(ines, task, "?path=app/part0/file.py")
    assert "# one" in alone
    assert "# other" in alone
    assert "All files" in alone


def test_a_file_that_neither_changes_is_said(ines: Client, scene: Scene) -> None:
    assert "Neither of the two changes no/such.py." in page_of(ines, scene.task, "?path=no/such.py")


def test_nothing_an_agent_names_becomes_markup_or_turns_the_text(
    ines: Client, world: World, scene: Scene
) -> None:
    name = '<img src=x onerror="alert(1)">\u202egnp'
    sha256 = hashlib.sha256(OTHER).hexdigest()
    items = [deliveries.item(name, kind, OTHER, (1,))[0] for kind in ("diff", "screenshot")]
    caller = as_agent(world.agents["agent-3"])
    done(transitions.stage(caller, scene.lost, StagedResult({"late": 2}, items)))

    raw = ines.get(f"/tasks/{scene.task}/attempts").content.decode()

    assert "<img src=x" not in raw
    assert "\u202e" not in raw
    assert "U+202E" in raw
    assert sha256 in raw
