"""Flags, outputs, tests, screenshots, the bundle, and two rounds beside each other."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

from django.test import Client

from claims import evidence, transitions
from claims.canonical import Item
from claims.decide import Judgement
from claims.models import Delivery, Task
from reviews.desk import reading
from reviews.desk.evidence import flags_of, outputs, testing
from reviews.desk.viewers import reports
from tests.support import deliveries
from tests.unit.reviews.world import World, as_person, done

HTMX = {"HX-Request": "true"}


def body_of(client: Client, address: str, **options: Any) -> str:
    answer = client.get(address, **options)
    assert answer.status_code == 200
    return answer.content.decode()


def delivered(world: World, task: Task, *items: tuple[Item, bytes]) -> Delivery:
    diff = deliveries.item("diff", "diff", deliveries.IN_SCOPE, (1,))
    return deliveries.deliver(task, world.agents["agent-7"], items=[diff, *items])


def next_round(world: World, task: Task, delivery: Delivery, *items: tuple[Item, bytes]) -> Delivery:
    judged = Judgement(delivery.subject_digest, {}, "Once more.", "Ines is away.")
    done(transitions.request_changes(as_person(world.ben), delivery.pk, judged))
    fence = deliveries.next_fence(task)
    return deliveries.deliver(task, world.agents["agent-7"], fence, items=list(items))


def test_what_is_weak_is_said_before_anything_else(ines: Client, world: World, task: Task) -> None:
    delivery = deliveries.deliver(
        task,
        world.agents["agent-7"],
        items=[
            deliveries.item("diff", "diff", deliveries.DIFF, (1,)),
            deliveries.item("tests", "command", b"no\n", command="make test", exitCode=2),
            deliveries.item("report", "test-report", b"<testsuite/>"),
            deliveries.item("home-390", "screenshot", deliveries.picture(360), page="/", width=390),
        ],
    )
    body = body_of(ines, f"/reviews/{delivery.pk}")

    start, end = body.index("What is weak about this evidence"), body.index('id="decision"')
    said = body[start:end]
    assert "1 file excluded by the task: data/plans.json" in said
    assert "tests ended with 2, by the agent&#x27;s account." in said
    assert "No test was executed, by the agent&#x27;s own report report." in said
    assert "home-390 is 360 px wide, narrower than the 390 px that it says." in said
    assert "characters that turn or hide text: data/plans.json" in said
    assert said.index('data-s="DANGER"') < said.index("?tab=")
    assert body.index("What is weak") < body.index("What agent-7 needs from you")


def test_grave_flags_come_first_and_a_long_summary_is_one(world: World, task: Task) -> None:
    item, _ = deliveries.item("out", "command", b"ok\n")
    facts = {
        "flags": [{"code": "outside", "text": "1 file outside"}, {"code": "no-tests", "text": "No test."}]
    }

    found = flags_of(facts, [item], "I did it, and here is at length how.")
    assert [flag.text[:11] for flag in found] == ["No test.", "1 file outs", "The summary"]
    assert flags_of({}, [item], "ok") == []


def output(lines: int) -> bytes:
    return b"".join(b"\x1b[32mline\x1b[0m %d\n" % number for number in range(1, lines + 1))


def test_a_long_output_shows_its_ends_and_opens_line_by_line(ines: Client, world: World, task: Task) -> None:
    delivery = delivered(world, task, deliveries.item("long", "command", output(2_000), command="make"))
    body = body_of(ines, f"/reviews/{delivery.pk}")

    assert 'id="o1-40"' in body
    assert 'id="o1-41"' not in body
    assert 'id="o1-2000"' in body
    assert "1,920 lines folded: show from line 41 of 2,000" in body
    part = body_of(ines, f"/reviews/{delivery.pk}/commands/1?line=41", headers=HTMX)
    assert 'id="o1-41"' in part
    assert 'id="o1-340"' in part
    assert 'id="o1-341"' not in part
    assert "Go on from line 341" in part
    last = body_of(ines, f"/reviews/{delivery.pk}/commands/1?line=1900")
    assert 'id="o1-2000"' in last
    assert "Go on from" not in last


def test_an_output_is_searched_whatever_its_colours(ines: Client, world: World, task: Task) -> None:
    delivery = delivered(world, task, deliveries.item("long", "command", output(2_000), command="make"))

    found = body_of(ines, f"/reviews/{delivery.pk}/commands/1?find=LINE+777", headers=HTMX)
    assert "1 line holds “LINE 777”." in found
    assert 'id="o1-777"' in found
    assert "0 lines hold “nowhere”." in body_of(ines, f"/reviews/{delivery.pk}/commands/1?find=nowhere")


def test_a_log_of_a_gigabyte_is_read_at_its_ends_alone(tmp_path: Any) -> None:
    sha256 = hashlib.sha256(b"sparse").hexdigest()
    path = tmp_path / evidence.storage.path_of(sha256)
    path.parent.mkdir(parents=True)
    size = 1024 * 1024 * 1024
    with path.open("wb") as file:
        file.write(b"first\n" * 100)
        file.truncate(size - 5)
        file.seek(0, 2)
        file.write(b"last\n")
    item = Item("log", "log", sha256, size, "text/plain", (), {})

    part = outputs.folded(item, None)
    assert str(part.lines[0].html) == "first"
    assert len(part.lines) <= 80
    assert "1,024" in part.note
    assert reading.lines_from(sha256, 50, 3)[0] == ["first", "first", "first"]
    assert reading.lines_from(sha256, 5_000_000, 3) == ([], False)
    assert reading.lines_with(sha256, "first")[1] is False


def test_tests_are_listed_by_what_became_of_them(ines: Client, world: World, task: Task) -> None:
    def report(**results: str) -> bytes:
        inner = {"passed": "", "failed": "<failure message='no'/>", "skipped": "<skipped/>"}
        cases = "".join(
            f'<testcase name="test_{name}">{inner[word]}</testcase>' for name, word in results.items()
        )
        return f"<testsuite>{cases}</testsuite>".encode()

    first = delivered(
        world,
        task,
        deliveries.item("report", "test-report", report(a="passed", b="failed", c="passed", d="passed")),
    )
    second = next_round(
        world, task, first,
        deliveries.item("diff", "diff", deliveries.IN_SCOPE, (1,)),
        deliveries.item("report", "test-report", report(a="failed", b="passed", c="skipped", e="passed")),
    )  # fmt: skip
    body = body_of(ines, f"/reviews/{second.pk}?tab=tests")

    for words in ("Newly failing 1", "Fixed 1", "Newly skipped 1", "New 1", "Gone 1", "Skipped 1", "All 5"):
        assert f">{words}</a>" in body
    assert "newly failing since round 1" in body
    failing = body_of(ines, f"/reviews/{second.pk}?tab=tests&tests=newly-failing")
    assert "<code>test_a</code>" in failing
    assert "<code>test_b</code>" not in failing


def test_a_test_that_passed_only_when_run_again_is_flaky() -> None:
    report = reports.read_report(
        b'<testsuite><testcase name="a"><flakyFailure message="x"/></testcase></testsuite>'
    )

    assert (report.flaky, report.count("passed"), report.cases[0].label) == (1, 1, "flaky")


def test_no_test_executed_is_a_red_state_of_its_own(ines: Client, world: World, task: Task) -> None:
    only = b'<testsuite><testcase name="a"><skipped/></testcase></testsuite>'
    delivery = delivered(world, task, deliveries.item("report", "test-report", only))

    assert "<b>No test was executed.</b>" in body_of(ines, f"/reviews/{delivery.pk}?tab=tests")
    assert testing.Tests(reports.Report(()), is_fact=True, items=()).is_empty


def test_screenshots_are_paired_with_those_of_the_round_before(
    ines: Client, world: World, task: Task
) -> None:
    first = delivered(
        world, task, deliveries.item("home-390", "screenshot", deliveries.picture(390), page="/", width=390)
    )
    second = next_round(
        world, task, first,
        deliveries.item("diff", "diff", deliveries.IN_SCOPE, (1,)),
        deliveries.item("home-390", "screenshot", deliveries.picture(390, label="Other"), page="/", width=390),
    )  # fmt: skip
    body = body_of(ines, f"/reviews/{second.pk}?tab=shots&mode=before")

    then = deliveries.item("home-390", "screenshot", deliveries.picture(390))[0].sha256
    assert f'/reviews/{first.pk}/shots/{then}.png"' in body
    assert 'data-mode="before"' in body
    assert "changed since round 1" in body
    assert "No screenshot of it at 1280 px." in body
    assert 'data-shots="blink"' not in body_of(ines, f"/reviews/{first.pk}")


def test_a_damaged_picture_is_said_and_not_drawn(ines: Client, world: World, task: Task) -> None:
    whole = deliveries.picture(390)
    delivery = delivered(
        world, task, deliveries.item("home-390", "screenshot", whole[: len(whole) // 2], width=390)
    )
    body = body_of(ines, f"/reviews/{delivery.pk}?tab=shots")

    assert "its pixels cannot be drawn" in body
    assert "<img" not in body[body.index('id="shots"') : body.index('id="diff"')]


def test_the_bundle_is_one_stored_zip_under_names_that_the_server_made(
    ines: Client, world: World, task: Task
) -> None:
    delivery = delivered(world, task, deliveries.item("weird", "log", b"bytes\n"))
    answer = ines.get(f"/reviews/{delivery.pk}/bundle.zip")

    assert answer.headers["Content-Disposition"] == f'attachment; filename="T-{task.number}-round-1.zip"'
    assert answer.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    whole = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))  # type: ignore[attr-defined]
    assert whole.namelist() == ["001-diff.diff", "002-log.log", "manifest.json"]
    assert {one.compress_type for one in whole.infolist()} == {zipfile.ZIP_STORED}
    assert whole.read("001-diff.diff") == deliveries.IN_SCOPE
    manifest = json.loads(whole.read("manifest.json"))
    assert manifest["subjectDigest"] == delivery.subject_digest
    assert [one["name"] for one in manifest["evidence"]] == ["diff", "weird"]


def test_any_two_rounds_are_compared_file_by_file(ines: Client, world: World, task: Task) -> None:
    first = delivered(world, task)
    other = deliveries.IN_SCOPE.replace(b"customer.invoices or []", b"list(customer.invoices)")
    second = next_round(world, task, first, deliveries.item("diff", "diff", other, (1,)))
    third = next_round(world, task, second, deliveries.item("diff", "diff", other, (1,)))

    body = body_of(ines, f"/reviews/{third.pk}/compare?base=1")
    assert "What changed from round 1 to round 3" in body
    assert body.count('<table class="diff uni inter">') == 1
    assert "invoices = list(customer.invoices)" in body
    assert "invoices = customer.invoices or []" in body
    assert "Both rounds change the same files in the same way." in body_of(
        ines, f"/reviews/{third.pk}/compare"
    )
    assert "before is round 1" not in body_of(ines, f"/reviews/{third.pk}?base=2")


def test_a_comparison_asks_the_database_a_fixed_number_of_times(
    ines: Client, world: World, task: Task, django_assert_num_queries: Any
) -> None:
    first = delivered(world, task)
    second = next_round(world, task, first, deliveries.item("diff", "diff", deliveries.DIFF, (1,)))
    ines.get(f"/reviews/{second.pk}/compare")

    with django_assert_num_queries(15):
        ines.get(f"/reviews/{second.pk}/compare")


def test_a_page_of_a_later_round_asks_the_database_a_fixed_number_of_times(
    ines: Client, world: World, task: Task, django_assert_num_queries: Any
) -> None:
    first = delivered(world, task)
    second = next_round(world, task, first, deliveries.item("diff", "diff", deliveries.DIFF, (1,)))
    third = next_round(world, task, second, deliveries.item("diff", "diff", deliveries.IN_SCOPE, (1,)))
    ines.get(f"/reviews/{third.pk}")

    with django_assert_num_queries(19):
        ines.get(f"/reviews/{third.pk}")
    with django_assert_num_queries(20):
        ines.get(f"/reviews/{third.pk}?base=1")


def test_a_picture_that_breaks_while_it_is_drawn_is_not_found_rather_than_an_error(
    ines: Client, world: World, task: Task
) -> None:
    whole = bytearray(deliveries.picture(390))
    whole[60:120] = b"\xff" * 60
    broken = deliveries.item("home-390", "screenshot", bytes(whole), width=390)
    delivery = delivered(world, task, broken)

    assert ines.get(f"/reviews/{delivery.pk}/shots/{broken[0].sha256}.png").status_code == 404
