"""/tasks/<task>: tabs, timeline with lanes, refusals, and who may see it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html import unescape
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from claims import canonical
from claims.models import Task
from claims.selectors import tasks as selectors
from claims.selectors.seen import pools_of
from claims.taskfile import load_template
from claims.vocabulary import Right
from reviews.taskpage import entries, lanes, next_steps
from reviews.taskpage.changes import Known
from reviews.taskpage.entries import Entry, Lost
from reviews.taskpage.views import CHANGE, TABS
from tests.unit.reviews.world import World, unreviewed

Tasks = dict[str, Task]
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def page_of(client: Client, task: Task, tab: str) -> str:
    answer = client.get(f"/tasks/T-{task.number}/{tab}")
    assert answer.status_code == 200
    return unescape(answer.content.decode())


@pytest.mark.parametrize("tab", [*TABS, CHANGE])
@pytest.mark.parametrize("name", ["open", "claimed", "quiet", "delivered", "changes", "done", "held", "told"])
def test_every_tab_of_a_task_in_every_state_is_drawn(ines: Client, tasks: Tasks, name: str, tab: str) -> None:
    html = page_of(ines, tasks[name], tab)
    assert tasks[name].title in html
    assert ('aria-current="page"' in html) is (tab != CHANGE)


def test_a_task_is_found_by_its_number_its_bare_number_and_its_id(ines: Client, tasks: Tasks) -> None:
    task = tasks["told"]
    for ref in (f"T-{task.number}", f"t-{task.number}", str(task.number), str(task.pk)):
        assert ines.get(f"/tasks/{ref}").status_code == 200


@pytest.mark.parametrize("ref", ["T-999999", "nonsense", "0", "T-", "99999999999999999999", "🙂"])
def test_what_does_not_exist_and_what_may_not_be_seen_look_the_same(
    ines: Client, world: World, tasks: Tasks, ref: str
) -> None:
    hidden = unreviewed(world)
    missing, forbidden = ines.get(f"/tasks/{ref}"), ines.get(f"/tasks/T-{hidden.number}")
    assert missing.status_code == forbidden.status_code == 404
    for answer in (missing, forbidden):
        html = answer.content.decode()
        assert "look the same" in html
        assert "request <code>" in html
        assert hidden.title not in html


def test_an_unknown_tab_answers_not_found(ines: Client, tasks: Tasks) -> None:
    assert ines.get(f"/tasks/T-{tasks['open'].number}/nosuchtab").status_code == 404


def test_the_timeline_shows_a_fenced_delivery_with_what_it_presented_and_what_was_current(
    ines: Client, tasks: Tasks
) -> None:
    html = page_of(ines, tasks["told"], "timeline").replace("\xa0", " ")
    assert "agent-3 came back and tried to deliver" in html
    panel = html.split('class="fenced')[1].split("</div>")[0]
    assert "epoch 13 · gen 1" in panel
    assert "epoch 13 · gen 3" in panel
    assert "held by agent-7" in panel
    assert "Nothing. The task stayed delivered." in panel
    assert "2 files agent-3 had staged" in panel


def test_the_timeline_tells_the_story_in_order(ines: Client, tasks: Tasks) -> None:
    html = page_of(ines, tasks["told"], "timeline")
    told = [
        "The task was written",
        "claimed it",
        "released the claim, gen 1 became 2",
        "delivered round 1",
        "came back",
        "requested changes to round 1",
        "delivered round 2",
    ]
    places = [html.index(sentence) for sentence in told]
    assert places == sorted(places)
    assert "<q>worker-b lost power</q>" in html


def test_the_timeline_pages_by_key_and_loses_no_entry(tasks: Tasks) -> None:
    whole = selectors.timeline(tasks["told"], None, 100)
    seen, before = [], None
    while True:
        page = selectors.timeline(tasks["told"], before, 2)
        seen = [*page.history, *seen]
        before = page.before
        if before is None:
            break
    assert [row.state_version for row in seen] == [row.state_version for row in whole.history]


def test_each_refusal_stands_on_exactly_one_page_of_the_timeline(tasks: Tasks) -> None:
    found, before = [], None
    while True:
        page = selectors.timeline(tasks["told"], before, 2)
        found += [row.pk for row in page.refusals]
        before = page.before
        if before is None:
            break
    assert len(found) == len(set(found)) == 1


def test_equal_refusals_in_a_row_are_one_entry_that_counts_them(world: World) -> None:
    task = world.write("Retried")
    fence = world.claim(task, "agent-3")
    world.run_out(task)
    world.release_quiet(task)
    for _ in range(3):
        world.late_delivery(task, fence, "agent-3")
    told = entries.entries_of(selectors.timeline(task, None, 40), Known({}, {}, {}), 1)
    refused = [entry for entry in told if entry.refusal]
    assert [entry.times for entry in refused] == [3]


def entry(minute: int, **more: object) -> Entry:
    return Entry(at=NOON + timedelta(minutes=minute), who="agent", text="did", **more)  # type: ignore[arg-type]


def lost() -> Lost:
    return Lost("FENCED", "", (13, 1), (13, 3), "agent-7", "DELIVERED", 0, "req_1")


def test_a_lane_is_solid_while_it_may_write_and_dashed_up_to_its_last_refusal() -> None:
    one, two = uuid4(), uuid4()
    story = [
        entry(0, before="", after="OPEN"),
        entry(1, attempt=one, new_attempt=one, before="OPEN", after="CLAIMED"),
        entry(2, attempt=one, before="CLAIMED", after="OPEN"),
        entry(3, attempt=two, new_attempt=two, before="OPEN", after="CLAIMED"),
        entry(4, attempt=one, before="REFUSED", refusal=lost()),
        entry(5, attempt=two, before="CLAIMED", after="DELIVERED"),
    ]
    found = lanes.lanes_of(story, {one: 1, two: 3})
    first, second = ([row.cells[at] for row in lanes.drawn(story, found)] for at in (0, 1))
    assert [cell.line for cell in first] == ["", "on", "on", "ghost", "ghost", ""]
    assert first[1].starts
    assert first[2].ends
    assert first[4].refused
    assert [cell.line for cell in second] == ["", "", "", "on", "on", "on"]
    assert lanes.live_codes(story, found) == ["", "DELIVERED"]


def test_a_request_for_changes_ends_one_lane_and_begins_the_next() -> None:
    one, two = uuid4(), uuid4()
    story = [
        entry(1, attempt=one, new_attempt=one, before="OPEN", after="CLAIMED"),
        entry(2, attempt=one, before="CLAIMED", after="DELIVERED"),
        entry(3, attempt=two, new_attempt=two, before="DELIVERED", after="CHANGES"),
    ]
    rows = lanes.drawn(story, lanes.lanes_of(story, {one: 1, two: 2}))
    assert rows[2].cells[0].ends
    assert rows[2].cells[1].starts


def test_a_lane_whose_grant_is_on_an_older_page_is_drawn_from_the_top() -> None:
    one = uuid4()
    story = [
        entry(1, before="CLAIMED", after="CLAIMED", attempt=None),
        entry(2, attempt=one, before="CLAIMED", after="DELIVERED"),
    ]
    rows = lanes.drawn(story, lanes.lanes_of(story, {one: 5}))
    assert [row.cells[0].line for row in rows] == ["on", "on"]


def test_at_most_six_lanes_are_drawn_and_a_refused_one_is_among_them() -> None:
    keys: list[UUID] = [uuid4() for _ in range(9)]
    story = [
        entry(at, attempt=key, new_attempt=key, before="OPEN", after="CLAIMED") for at, key in enumerate(keys)
    ]
    story.append(entry(20, attempt=keys[0], before="REFUSED", refusal=lost()))
    found = lanes.lanes_of(story, {key: at for at, key in enumerate(keys, 1)})
    assert len(found) == lanes.MOST
    assert found[0].attempt == keys[0]


def test_the_next_step_is_offered_to_the_one_who_may_take_it(world: World, tasks: Tasks) -> None:
    task = selectors.find(f"T-{tasks['delivered'].number}", [world.billing.pk])
    assert task is not None
    for who, offered in ((world.ines, True), (world.ben, False), (world.noor, False), (world.mira, False)):
        pool = next(one for one in pools_of(who.pk) if one.id == world.billing.pk)
        steps = next_steps.steps_of(task, pool, who.pk)
        assert any(step.is_first and step.verb == "Decide round 1" for step in steps) is offered


def test_a_quiet_claim_leads_operators_to_operations_and_nobody_else(world: World, tasks: Tasks) -> None:
    task = selectors.find(str(tasks["quiet"].number), [world.billing.pk])
    assert task is not None
    for who, offered in ((world.noor, True), (world.ben, False)):
        pool = next(one for one in pools_of(who.pk) if one.id == world.billing.pk)
        assert (
            any(step.url.startswith("/operations") for step in next_steps.steps_of(task, pool, who.pk))
            is offered
        )
        assert pool.allows(Right.OPERATOR) is offered


def test_the_yaml_tab_is_a_template_that_gives_the_same_input_again(ines: Client, tasks: Tasks) -> None:
    html = page_of(ines, tasks["delivered"], "yaml")
    text = html.split('aria-label="Template">')[1].split("</pre>")[0]
    again = load_template(text)
    assert canonical.input_digest(again.task.input, {}) == tasks["delivered"].input_digest
    assert (again.pool, again.task.title, again.task.reviewer) == (
        "billing",
        tasks["delivered"].title,
        "ines",
    )


@pytest.mark.parametrize(
    ("tab", "most"),
    [
        ("spec", 17),
        ("rounds", 17),
        ("claim", 18),
        ("effects", 18),
        ("timeline", 20),
        ("yaml", 16),
        (CHANGE, 21),
    ],
)
def test_a_task_page_takes_a_bounded_number_of_queries(
    ines: Client, tasks: Tasks, tab: str, most: int
) -> None:
    page_of(ines, tasks["told"], tab)
    with CaptureQueriesContext(connection) as queries:
        page_of(ines, tasks["told"], tab)
    assert len(queries) <= most
