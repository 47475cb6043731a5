"""The diff's viewer: context, white space, split, portions, and the difference of two diffs."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from claims.models import Delivery, Task
from reviews.desk.viewers import code, context, interdiff, marking, patch, spacing
from tests.support import deliveries
from tests.unit.reviews.world import World

HTMX = {"HX-Request": "true"}


def hunks(body: str, path: str = "x.py") -> list[patch.Hunk]:
    return patch.hunks_of(patch.read_patch(f"--- a/{path}\n+++ b/{path}\n{body}").files[0])


def file_of(path: str, lines: int, start: int = 0) -> str:
    added = "".join(f"+line {start + number}\n" for number in range(lines))
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return f"{head}@@ -0,0 +1,{lines} @@\n{added}"


def delivered(world: World, task: Task, diff: str, *more: Any) -> Delivery:
    items = [deliveries.item("diff", "diff", diff.encode(), (1,)), *more]
    return deliveries.deliver(task, world.agents["agent-7"], items=items)


def body_of(client: Client, address: str, **options: Any) -> str:
    answer = client.get(address, **options)
    assert answer.status_code == 200
    return answer.content.decode()


def test_lines_that_differ_in_white_space_alone_count_as_unchanged_when_it_is_hidden() -> None:
    found, hidden = spacing.without_spacing(
        hunks("@@ -1,4 +1,5 @@\n-if x:\n-  return  1\n-old\n+if x:\n+    return 1\n+new\n+newer\n z\n")
    )

    assert [(row.kind, row.old, row.new, row.text) for row in found[0].rows] == [
        ("same", 1, 1, "if x:"),
        ("same", 2, 2, "    return 1"),
        ("del", 3, None, "old"),
        ("add", None, 3, "new"),
        ("add", None, 4, "newer"),
        ("same", 4, 5, "z"),
    ]
    assert hidden == 4


def test_a_hunk_of_white_space_alone_is_left_out_when_it_is_hidden() -> None:
    assert spacing.without_spacing(hunks("@@ -1 +1 @@\n-a  b\n+a b\n")) == ([], 2)


def test_gaps_are_counted_and_filled_only_from_a_file_that_agrees_with_the_diff() -> None:
    changed = hunks("@@ -5,2 +5,2 @@\n-five\n+FIVE\n six\n")
    whole = ["one", "two", "three", "four", "FIVE", "six", "seven"]

    plain = context.placed(changed, None, show_all=False)
    assert (plain[0].gap, plain[0].can_show) == (4, False)
    assert context.placed(changed, whole, show_all=False)[0].can_show
    filled = context.placed(changed, whole, show_all=True)
    assert [(row.kind, row.old, row.new) for row in filled[0].rows] == [
        ("same", 1, 1), ("same", 2, 2), ("same", 3, 3), ("same", 4, 4),
        ("del", 5, None), ("add", None, 5), ("same", 6, 6), ("same", 7, 7),
    ]  # fmt: skip
    assert context.placed(changed, [*whole[:4], "other"], show_all=True)[0].gap == 4


def test_a_long_unchanged_middle_is_folded_and_shown_whole_when_asked() -> None:
    middle = "".join(f" same {number}\n" for number in range(40))
    changed = hunks(f"@@ -1,42 +1,42 @@\n-a\n+b\n{middle}-c\n+d\n")

    folded = context.placed(changed, None, show_all=False)
    assert [len(hunk.rows) for hunk in folded] == [2 + context.KEPT, context.KEPT + 2]
    assert (folded[1].gap, folded[1].can_show) == (40 - 2 * context.KEPT, True)
    assert [len(hunk.rows) for hunk in context.placed(changed, None, show_all=True)] == [44]


def test_removed_and_added_lines_stand_beside_each_other_in_the_split_view() -> None:
    (hunk,) = hunks("@@ -1,3 +1,4 @@\n same\n-a\n-b\n+A\n+B\n+C\n")

    assert list(marking.pairs_of(hunk.rows)) == [(0, 0), (1, 3), (2, 4), (None, 5)]
    html = code.drawn([hunk], "x.txt", 3, view=code.SPLIT)
    assert html.count("<tr") == 5
    assert '<tr class="both" id="f3-n1">' in html
    assert (
        '<td class="ln none"></td><td class="c none"></td><td class="ln add"><a href="#f3-n4">4</a></td>'
        in html
    )


def test_rows_are_cut_into_portions_that_keep_their_line_numbers() -> None:
    long = hunks("@@ -0,0 +1,10 @@\n" + "".join(f"+{number}\n" for number in range(10)))
    there, rows = code.portion(long, 7, 2)

    assert rows == 10
    assert [row.new for hunk in there for row in hunk.rows] == [8, 9]


def test_the_difference_of_two_diffs_leaves_out_what_both_have_however_it_moved() -> None:
    old = hunks("@@ -1,3 +1,4 @@\n a\n-b\n+B\n+C\n d\n")
    new = hunks("@@ -11,3 +21,4 @@\n a\n-b\n+B\n+CC\n d\n")

    assert interdiff.between(old, old) == interdiff.Between((), 0, 0)
    found = interdiff.between(old, new)
    assert [(line.kind, line.sign, line.text) for line in found.lines] == [
        ("same", "−", "b"), ("same", "+", "B"), ("del", "+", "C"), ("add", "+", "CC"), ("same", " ", "d"),
    ]  # fmt: skip
    assert (found.came, found.went) == (1, 1)
    many = hunks("@@ -0,0 +1,3000 @@\n" + "+x\n" * 3_000)
    assert interdiff.between(old, many).is_cut


def test_the_split_view_is_remembered_in_this_browser(ines: Client, delivery: Delivery) -> None:
    assert '<table class="diff uni">' in body_of(ines, f"/reviews/{delivery.pk}")
    assert '<table class="diff split">' in body_of(ines, f"/reviews/{delivery.pk}?view=split")
    assert '<table class="diff split">' in body_of(ines, f"/reviews/{delivery.pk}")
    assert ines.cookies["fencepost-diff"]["httponly"]


def test_white_space_is_hidden_by_a_link_that_says_how_much(ines: Client, world: World, task: Task) -> None:
    diff = "diff --git a/app/x.py b/app/x.py\n--- a/app/x.py\n+++ b/app/x.py\n@@ -1,2 +1,2 @@\n-a  b\n-c\n+a b\n+d\n"
    delivery = delivered(world, task, diff)

    body = body_of(ines, f"/reviews/{delivery.pk}?w=1&tab=diff")
    assert "2 changed lines of white space alone not shown as changed." in body
    assert "Show white space" in body


def test_lines_around_a_change_come_from_a_file_that_was_delivered(
    ines: Client, world: World, task: Task
) -> None:
    diff = "diff --git a/app/x.py b/app/x.py\n--- a/app/x.py\n+++ b/app/x.py\n@@ -30 +30 @@\n-old\n+new\n"
    lines = [f"line {number}" for number in range(1, 60)]
    lines[29] = "new"
    whole = deliveries.item("x", "file", "\n".join(lines).encode(), (), path="app/x.py")
    delivery = delivered(world, task, diff, whole)

    body = body_of(ines, f"/reviews/{delivery.pk}")
    assert "29 unchanged lines: show the whole file</a>" in body
    assert "line 12" not in body
    assert "line 12" in body_of(ines, f"/reviews/{delivery.pk}/diff/0?whole=1", headers=HTMX)


def test_lines_that_no_evidence_holds_are_said_to_be_missing(ines: Client, world: World, task: Task) -> None:
    diff = "diff --git a/app/x.py b/app/x.py\n--- a/app/x.py\n+++ b/app/x.py\n@@ -30 +30 @@\n-old\n+new\n"

    body = body_of(ines, f"/reviews/{delivered(world, task, diff).pk}")

    assert "29 unchanged lines before this are not in the delivery" in body


def test_a_large_file_is_read_in_portions_by_links(ines: Client, world: World, task: Task) -> None:
    delivery = delivered(world, task, file_of("app/big.py", 2_000))
    page = body_of(ines, f"/reviews/{delivery.pk}")
    assert "2,000 changed lines, " in page
    assert "Load this file" in page

    first = body_of(ines, f"/reviews/{delivery.pk}/diff/0", headers=HTMX)
    assert "line 399<" in first
    assert "400 of 2,000 lines so far." in first
    last = body_of(ines, f"/reviews/{delivery.pk}/diff/0?row=1800")
    assert "line 1999<" in last
    assert "Go on from there" not in last
    assert ines.get(f"/reviews/{delivery.pk}/diff/7", headers=HTMX).status_code == 404


def test_files_are_found_by_path_and_come_in_pages(ines: Client, world: World, task: Task) -> None:
    many = "".join(file_of(f"app/part{number}/file.py", 1) for number in range(120))
    delivery = delivered(world, task, many + file_of("data/plans.json", 1))

    first = body_of(ines, f"/reviews/{delivery.pk}")
    assert "Files 1 to 30 of 121" in first
    assert first.index('data-path="data/plans.json"') < first.index('data-path="app/part0/file.py"')
    assert "Excluded by the task" in first
    assert "Files 91 to 120 of 121" in body_of(ines, f"/reviews/{delivery.pk}?page=4")
    found = body_of(ines, f"/reviews/{delivery.pk}?path=PART77")
    assert found.count("data-file=") == 1
    assert "No file’s path holds" in body_of(ines, f"/reviews/{delivery.pk}?path=nowhere")


def test_viewed_files_are_counted_over_all_pages(ines: Client, world: World, task: Task) -> None:
    many = "".join(file_of(f"app/{number}.py", 1) for number in range(60))
    delivery = delivered(world, task, many)
    ines.post(f"/reviews/{delivery.pk}/viewed", {"path": "app/59.py", "is_viewed": "yes"})

    assert "<span data-viewed-count>1</span> of 60 viewed" in body_of(ines, f"/reviews/{delivery.pk}")


def test_the_files_of_every_diff_of_a_delivery_are_shown(ines: Client, world: World, task: Task) -> None:
    more = deliveries.item("second", "diff", file_of("data/hidden.py", 1).encode(), (1,))
    body = body_of(ines, f"/reviews/{delivered(world, task, file_of('app/x.py', 1), more).pk}")

    assert 'data-path="data/hidden.py"' in body
    assert 'data-path="app/x.py"' in body


@pytest.mark.parametrize(
    "query",
    ["view=%00&w=x&mode=zz&page=-1&row=99999999999999", "page=9999999&base=9&path=%00", "row=9999&whole=1"],
)
def test_any_query_string_gives_a_page(ines: Client, delivery: Delivery, query: str) -> None:
    body_of(ines, f"/reviews/{delivery.pk}?{query}")
    body_of(ines, f"/reviews/{delivery.pk}/diff/0?{query}", headers=HTMX)
    body_of(ines, f"/reviews/{delivery.pk}/commands/1?line=999999&find=&{query}", headers=HTMX)
