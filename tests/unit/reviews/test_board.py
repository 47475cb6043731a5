"""/board: columns, table, filter, rights, and how many queries it takes."""

from __future__ import annotations

from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from claims.models import Task
from claims.selectors import board
from claims.vocabulary import State
from tests.unit.reviews.world import World, unreviewed

Tasks = dict[str, Task]
FRAGMENT = {"HTTP_HX_REQUEST": "true", "HTTP_HX_REQUEST_TYPE": "partial"}


def text_of(answer: object) -> str:
    return unescape(answer.content.decode())  # type: ignore[attr-defined]


def column_of(html: str, name: str) -> str:
    return html.split(f'id="rows-{name}"')[1].split("</ul>")[0]


def test_each_task_stands_in_the_column_of_its_state_as_people_see_it(ines: Client, tasks: Tasks) -> None:
    html = text_of(ines.get("/board"))
    places = {
        "open": "open",
        "claimed": "claimed",
        "quiet": "claimed",
        "delivered": "delivered",
        "changes": "changes",
        "done": "done",
        "held": "blocked",
    }
    for name, column in places.items():
        assert f'id="card-{tasks[name].number}"' in column_of(html, column), name


def test_a_quiet_claim_says_since_when_and_an_open_task_which_label_no_agent_has(
    ines: Client, tasks: Tasks
) -> None:
    html = text_of(ines.get("/board"))
    assert "lease ran out" in column_of(html, "claimed")
    assert "No agent has the label <b>pdf</b>" in column_of(html, "open")


def test_a_pool_without_a_right_is_on_no_board_and_naming_it_answers_not_found(
    ines: Client, world: World, tasks: Tasks
) -> None:
    hidden = unreviewed(world)
    assert hidden.title not in text_of(ines.get("/board"))
    assert hidden.title not in text_of(ines.get("/board?view=table"))
    assert ines.get("/board?pool=sandbox").status_code == 404
    assert ines.get("/board?pool=nowhere").status_code == 404


def test_somebody_without_any_right_sees_an_empty_board(client: Client, world: World, tasks: Tasks) -> None:
    client.force_login(world.stranger)
    html = text_of(client.get("/board"))
    assert 'id="card-' not in html
    assert "no rights in any pool yet" in html


@pytest.mark.parametrize(
    ("query", "there", "gone"),
    [
        ("agent=agent-3", "quiet", "claimed"),
        ("label=pdf", "unmanned", "open"),
        ("reviewer=ben", "other", "delivered"),
        ("state=HELD", "held", "open"),
        ("q=dunning", "quiet", "open"),
    ],
)
def test_the_filter_is_in_the_address_and_narrows_the_table(
    ines: Client, tasks: Tasks, query: str, there: str, gone: str
) -> None:
    html = text_of(ines.get(f"/board?view=table&{query}"))
    assert f'id="card-{tasks[there].number}"' in html
    assert f'id="card-{tasks[gone].number}"' not in html


def test_a_task_number_in_the_filter_finds_that_task_alone(ines: Client, tasks: Tasks) -> None:
    html = text_of(ines.get(f"/board?view=table&q=T-{tasks['done'].number}"))
    assert html.count('id="card-') == 1


def test_words_with_a_colon_in_the_search_field_become_filters_with_chips(ines: Client, tasks: Tasks) -> None:
    answer = ines.get("/board", {"q": "agent:agent-7 yearly label:pdf"})
    assert answer.status_code == 302
    assert answer["Location"] == "/board?q=yearly&agent=agent-7&label=pdf"
    html = text_of(ines.get(answer["Location"]))
    assert "Remove filter agent agent-7" in html
    assert 'href="?q=yearly&label=pdf"' in html


def test_an_unknown_state_answers_not_found(ines: Client, tasks: Tasks) -> None:
    assert ines.get("/board?state=SLEEPING").status_code == 404


def test_the_table_pages_by_key_without_repeating_or_losing_a_task(
    ines: Client, tasks: Tasks, world: World
) -> None:
    wanted = board.BoardFilter((world.billing.pk,))
    seen: list[int] = []
    before = None
    while True:
        page = board.table(wanted, before, 3)
        seen += [task.number for task in page.rows]
        before = page.next_before
        if before is None:
            break
    assert seen == [task.number for task in sorted(tasks.values(), key=lambda task: task.pk, reverse=True)]


def test_counts_are_bounded(world: World, tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "COUNT_LIMIT", 1)
    delivered = next(
        column
        for column in board.columns(board.BoardFilter((world.billing.pk,)), 2)
        if column.name == "DELIVERED"
    )
    assert delivered.count == 2
    assert len(delivered.cards) == 2


def test_a_column_with_more_cards_than_it_draws_says_how_many_and_links_to_the_table(
    world: World, tasks: Tasks
) -> None:
    delivered = next(
        column
        for column in board.columns(board.BoardFilter((world.billing.pk,)), 1)
        if column.name == "DELIVERED"
    )
    assert (len(delivered.cards), delivered.more) == (1, 3)


def test_the_longest_waiting_delivery_comes_first(world: World, tasks: Tasks) -> None:
    delivered = next(
        column
        for column in board.columns(board.BoardFilter((world.billing.pk,)), 9)
        if column.name == "DELIVERED"
    )
    assert [task.pk for task in delivered.cards] == [
        tasks[name].pk for name in ("delivered", "can", "other", "told")
    ]


def test_page_and_fragment_come_from_one_template(ines: Client, tasks: Tasks) -> None:
    fragment = text_of(ines.get("/board/columns", **FRAGMENT))
    assert "<html" not in fragment
    assert 'id="columns"' in fragment
    assert "<html" in text_of(ines.get("/board/columns"))


def test_a_fragment_that_has_not_changed_answers_304_without_a_body(ines: Client, tasks: Tasks) -> None:
    first = ines.get("/board/table", **FRAGMENT)
    again = ines.get("/board/table", HTTP_IF_NONE_MATCH=first["ETag"], **FRAGMENT)
    assert again.status_code in (200, 304)
    if again.status_code == 304:
        assert again.content == b""


def test_a_small_screen_shows_the_column_it_was_asked_for(ines: Client, tasks: Tasks) -> None:
    html = text_of(ines.get("/board?col=done"))
    assert 'class="col" id="done"' in html
    assert 'class="col off" id="open"' in html


@pytest.mark.parametrize("address", ["/board", "/board?view=table"])
def test_a_page_takes_the_same_queries_however_many_tasks_there_are(
    ines: Client, world: World, tasks: Tasks, address: str
) -> None:
    ines.get(address)
    with CaptureQueriesContext(connection) as few:
        ines.get(address)
    for number in range(6):
        world.write(f"One more {number}")
        world.delivered(f"Another {number}")
    with CaptureQueriesContext(connection) as many:
        ines.get(address)
    assert len(many) == len(few)
    assert len(few) <= 20


def test_every_state_of_the_contract_has_a_place_on_the_board_or_is_final() -> None:
    on_board = {"OPEN", "CLAIMED", "DELIVERED", "DONE", "BLOCKED", "HELD"}
    assert {str(state) for state in State} - on_board == {"CANCELLED", "SUPERSEDED"}


def test_a_page_that_looked_through_its_stretch_and_found_nothing_leads_on(
    world: World, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "STRETCHES", (1, 2))
    wanted = board.BoardFilter((world.billing.pk,), text="keep the filter")
    seen: list[int] = []
    before, pages = None, 0
    while pages < 50:
        page = board.table(wanted, before, 3)
        seen += [task.number for task in page.rows]
        before, pages = page.next_before, pages + 1
        if before is None:
            break
        assert len(page.rows) <= 1
        if seen:
            break
    assert seen == [tasks["open"].number]
    assert pages > 1
