"""The decision page: what it draws, for whom, and with how many queries."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from claims.models import Delivery, Pool, Task
from tests.support import deliveries
from tests.unit.reviews.world import World

QUERIES_OF_A_FIRST_ROUND = 18


def body_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_keeps_facts_and_claims_apart(ines: Client, delivery: Delivery) -> None:
    body = body_of(ines, f"/reviews/{delivery.pk}")

    assert "Check the empty state at 390 px and the query count." in body
    assert body.count('data-crit="') == 4
    assert f'name="subject" value="{delivery.subject_digest}"' in body
    assert "run by this server" in body
    assert "run by agent-7, not re-run" in body
    assert "true width 390" in body
    assert "agent-7 claims</b> <q>3 queries, asserted.</q>" in body


def test_terminal_colours_become_classes_and_window_titles_are_dropped(
    ines: Client, delivery: Delivery
) -> None:
    body = body_of(ines, f"/reviews/{delivery.pk}")

    assert '<span class="ag">3 passed</span>' in body
    assert "a window title" not in body


def test_excluded_files_come_first_and_hidden_characters_are_drawn(
    ines: Client, world: World, task: Task
) -> None:
    delivery = deliveries.deliver(task, world.agents["agent-7"])
    body = body_of(ines, f"/reviews/{delivery.pk}")

    assert body.index('data-path="data/plans.json"') < body.index('data-path="templates/billing.html"')
    assert "excluded file" in body
    assert "U+202E" in body
    assert "\u202e" not in body


def test_a_screenshot_that_is_not_as_wide_as_it_claims_is_said(
    ines: Client, world: World, task: Task
) -> None:
    items = [deliveries.item("home-390", "screenshot", deliveries.picture(412), (3,), page="/", width=390)]
    items.append(deliveries.usual_items()[0])
    delivery = deliveries.deliver(task, world.agents["agent-7"], items=items)

    assert "It is 412 px wide, not the 390 px that it claims." in body_of(ines, f"/reviews/{delivery.pk}")


def test_the_page_asks_the_database_a_fixed_number_of_times(
    ines: Client, delivery: Delivery, django_assert_num_queries: Any
) -> None:
    ines.get(f"/reviews/{delivery.pk}")

    with django_assert_num_queries(QUERIES_OF_A_FIRST_ROUND):
        ines.get(f"/reviews/{delivery.pk}")


def test_a_person_without_rights_in_the_pool_does_not_find_it(
    client: Client, world: World, delivery: Delivery
) -> None:
    client.force_login(world.stranger)

    assert client.get(f"/reviews/{delivery.pk}").status_code == 404


def test_an_operator_reads_but_is_told_who_decides(client: Client, world: World, delivery: Delivery) -> None:
    client.force_login(world.noor)
    body = body_of(client, f"/reviews/{delivery.pk}")

    assert "You can read this, not decide it. Ines Halvorsen or Ben Okafor can." in body
    assert 'data-sheet="accept"' not in body
    assert client.post(f"/reviews/{delivery.pk}/save", {"verdict-1": "met"}).status_code == 403


def test_a_delivery_of_an_old_epoch_can_be_sent_back_and_not_accepted(
    ines: Client, delivery: Delivery
) -> None:
    Pool.objects.filter(pk=delivery.pool_id).update(scheduler_epoch=99)
    body = body_of(ines, f"/reviews/{delivery.pk}")

    assert "it can be sent back, not accepted" in body
    assert "data-barred" in body


def test_a_missing_byte_is_a_sentence_and_the_verdicts_still_work(
    ines: Client, world: World, task: Task, settings: Any, tmp_path: Any
) -> None:
    content = b"one line\n"
    delivery = deliveries.deliver(
        task,
        world.agents["agent-7"],
        items=[deliveries.item("odd", "command", content), deliveries.usual_items()[0]],
    )
    for file in tmp_path.rglob("*"):
        if file.is_file():
            file.unlink()
    from reviews.desk import reading

    for memory in (reading.ends_of, reading.changes_of, reading.drawn_file):
        memory.cache_clear()

    body = body_of(ines, f"/reviews/{delivery.pk}")

    assert body.count("The evidence storage does not have these bytes") == 4  # the command and three files
    assert 'data-sheet="changes"' in body


@pytest.mark.parametrize("tab", ["diff", "commands", "tests", "shots", "files", "talk"])
def test_every_tab_has_an_address(ines: Client, delivery: Delivery, tab: str) -> None:
    assert f'data-tab="{tab}"' in body_of(ines, f"/reviews/{delivery.pk}?tab={tab}")


def test_downloads_are_attachments_in_a_sandbox(ines: Client, delivery: Delivery) -> None:
    sha256 = deliveries.usual_items(diff=deliveries.IN_SCOPE)[0][0].sha256
    answer = ines.get(f"/reviews/{delivery.pk}/files/{sha256}")

    assert answer.headers["Content-Disposition"] == 'attachment; filename="diff.diff"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert b"".join(answer.streaming_content) == deliveries.IN_SCOPE  # type: ignore[attr-defined]


def test_bytes_of_another_delivery_are_not_found_here(ines: Client, delivery: Delivery) -> None:
    assert ines.get(f"/reviews/{delivery.pk}/files/{'0' * 64}").status_code == 404
    assert ines.get(f"/reviews/{delivery.pk}/shots/{'0' * 64}.png").status_code == 404


def test_a_screenshot_is_drawn_anew_by_the_server(ines: Client, delivery: Delivery) -> None:
    item, content = deliveries.usual_items()[4]
    answer = ines.get(f"/reviews/{delivery.pk}/shots/{item.sha256}.png")

    assert answer.headers["Content-Type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")
    assert answer.content != content


def test_a_file_beyond_the_pages_lines_waits_and_loads_when_asked(
    ines: Client, world: World, task: Task
) -> None:
    lines = "".join(f"+line {number}\n" for number in range(2_000))
    large = f"diff --git a/app/big.py b/app/big.py\nnew file mode 100644\n--- /dev/null\n+++ b/app/big.py\n@@ -0,0 +1,2000 @@\n{lines}"
    delivery = deliveries.deliver(
        task, world.agents["agent-7"], items=[deliveries.item("diff", "diff", large.encode(), (1,))]
    )

    assert "line 1999" not in body_of(ines, f"/reviews/{delivery.pk}")
    answer = ines.get(f"/reviews/{delivery.pk}/diff/0?row=1800", headers={"HX-Request": "true"})
    assert "line 1999" in answer.content.decode()
    assert "<html" not in answer.content.decode()
