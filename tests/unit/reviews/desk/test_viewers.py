"""Readers of evidence: bounded, escaped, and never misled by what the bytes look like."""

from __future__ import annotations

import pytest
from django.utils.safestring import SafeString

from reviews.desk.viewers import ansi, code, patch, pictures, reports, texts
from tests.support import deliveries


def drawn(diff: str, index: int = 0) -> SafeString:
    file = patch.read_patch(diff).files[index]
    return code.drawn(patch.hunks_of(file), file.path, index)


def test_a_line_that_looks_like_a_header_inside_a_hunk_is_content() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n-diff --git a/z b/z\n++++ b/y\n+@@ -9 +9 @@\n"
    found = patch.read_patch(diff)

    assert [(file.path, file.added, file.removed) for file in found.files] == [("x", 2, 2)]


def test_new_deleted_renamed_and_binary_files_are_told_apart() -> None:
    diff = (
        "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n"
        "diff --git a/old.txt b/old.txt\ndeleted file mode 100644\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/a.txt b/b.txt\nsimilarity index 100%\nrename from a.txt\nrename to b.txt\n"
        "diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n"
    )
    found = patch.read_patch(diff).files

    assert [(file.path, file.kind, file.is_binary) for file in found] == [
        ("new.txt", "new file", False),
        ("old.txt", "deleted", False),
        ("b.txt", "renamed", False),
        ("p.png", "", True),
    ]


def test_paths_in_quotes_are_read_as_git_writes_them() -> None:
    diff = 'diff --git "a/caf\\303\\251 \\"x\\".txt" "b/caf\\303\\251 \\"x\\".txt"\n--- "a/caf\\303\\251 \\"x\\".txt"\n+++ "b/caf\\303\\251 \\"x\\".txt"\n@@ -1 +1 @@\n-a\n+b\n'

    assert patch.read_patch(diff).files[0].path == 'café "x".txt'


def test_a_malformed_diff_is_read_as_far_as_it_goes() -> None:
    for text in (
        "",
        "no diff at all",
        "@@ -1 +1 @@\n+x",
        "diff --git\n",
        "diff --git a/x b/x\n@@ -a +b @@\n",
        "--- \n+++ \n@@ -1,999999 +1 @@\n+x",
    ):
        found = patch.read_patch(text)
        for file in found.files:
            code.drawn(patch.hunks_of(file), file.path, file.index)


def test_fifty_thousand_files_are_counted_and_five_hundred_listed() -> None:
    one = "diff --git a/f{0} b/f{0}\n--- a/f{0}\n+++ b/f{0}\n@@ -1 +1 @@\n-a\n+b\n"
    found = patch.read_patch("".join(one.format(number) for number in range(50_000)))

    assert (found.count, len(found.files), found.added) == (50_000, 500, 50_000)


def test_a_line_of_five_megabytes_is_cut_and_says_so() -> None:
    html = drawn(f"--- a/x.js\n+++ b/x.js\n@@ -1 +1 @@\n-a\n+{'y' * 5_000_000}\n")

    assert len(html) < 10_000
    assert "4,998,000 more characters" in html


def test_code_is_escaped_and_hidden_characters_are_named() -> None:
    html = drawn("--- a/x.html\n+++ b/x.html\n@@ -1 +1 @@\n-<b>\n+<script>alert(1)</script>\u200b\u202e\n")

    assert "<script>" not in html
    assert "U+200B" in html
    assert "U+202E" in html


def test_changed_words_of_a_replaced_line_are_marked() -> None:
    html = drawn("--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-margin: 0 0 24px;\n+margin: 0 0 16px;\n")

    assert "<mark>24</mark>" in html
    assert "<mark>16</mark>" in html


def test_line_numbers_follow_the_hunk_header() -> None:
    file = patch.read_patch(
        "--- a/x\n+++ b/x\n@@ -10,3 +10,3 @@ def f():\n a\n-b\n+c\n d\n\\ No newline at end of file\n"
    ).files[0]
    rows = patch.hunks_of(file)[0].rows

    assert [(row.kind, row.old, row.new) for row in rows] == [
        ("same", 10, 10),
        ("del", 11, None),
        ("add", None, 11),
        ("same", 12, 12),
    ]
    assert rows[-1].has_no_end


def test_crlf_colours_titles_and_links_of_a_terminal() -> None:
    text = "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07\r\n\x1b[31mred\x1b[39m plain\r\n10%\r50%\r100%\r\n\x1b[2J\x1b[1;32mok\x1b[0m"

    assert [str(line) for line in ansi.lines_of(text)] == [
        "link",
        '<span class="ar">red</span> plain',
        "100%",
        '<span class="ag aw">ok</span>',
    ]


def test_colours_reach_over_lines_until_they_are_reset() -> None:
    assert [str(line) for line in ansi.lines_of("\x1b[33ma\nb\x1b[0m\nc")] == [
        '<span class="ay">a</span>',
        '<span class="ay">b</span>',
        "c",
    ]


def test_output_cannot_carry_markup() -> None:
    assert str(ansi.lines_of("<img src=x onerror=alert(1)>")[0]) == "&lt;img src=x onerror=alert(1)&gt;"


@pytest.mark.parametrize(
    "text",
    ["\x1b", "\x1b[", "\x1b[38", "\x1b[38;5", "\x1b[38;2;1;2m", "\x1b]0;x", "\x1b[999999999m", "\x9d0;x\x9c"],
)
def test_a_broken_escape_never_fails(text: str) -> None:
    ansi.lines_of(text)


def test_a_report_is_read_with_counts_and_changes() -> None:
    now = reports.read_report(deliveries.REPORT)
    before = [
        reports.Case("test_cents_are_kept", "tests.test_money", "failed", None),
        reports.Case("test_the_table_is_as_before", "tests.test_pages", "passed", None),
    ]
    cases = {case.name: case.change for case in reports.compared(now.cases, before)}

    assert (now.count("passed"), now.count("skipped"), now.executed) == (3, 1, 3)
    assert cases == {
        "test_cents_are_kept": "fixed",
        "test_the_table_is_as_before": "",
        "test_an_empty_account_says_so": "new",
        "test_a_pdf_is_made": "new",
    }


def test_a_report_with_entities_or_without_xml_is_refused_in_words() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><testsuite><testcase name="&a;"/></testsuite>'

    assert (
        "cannot be read" in reports.read_report(bomb).flaw
        or "can be read safely" in reports.read_report(bomb).flaw
    )
    assert reports.read_report(b"not xml").flaw
    assert reports.read_report(b"<testsuite/>", is_cut=True).flaw


def test_pictures_are_measured_redrawn_and_bounded() -> None:
    assert pictures.measured(deliveries.picture(390)) == pictures.Size(390, 600)
    assert pictures.redrawn(deliveries.picture(390)).startswith(b"\x89PNG")
    for content in (b"", b"<svg/>", b"GIF89a", deliveries.picture(390)[:200]):
        with pytest.raises(pictures.NotAPicture):
            pictures.redrawn(content)


def test_plain_text_is_only_escaped() -> None:
    assert texts.visible("a < b") == "a &lt; b"
    assert not texts.has_hidden("tab\tand\nline")


def test_a_hunk_header_with_absurd_counts_is_read_over_and_hides_no_file() -> None:
    digits = "9" * 5_000
    found = patch.read_patch(f"--- a/x\n+++ b/x\n@@ -{digits},1 +1 @@\n-a\n+b\n")
    assert [file.path for file in found.files] == ["x"]
    assert patch.hunks_of(found.files[0]) == []

    start = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,999 +1,999 @@\n-a\n+b\n"
    after = "diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"
    assert [file.path for file in patch.read_patch(start + after).files] == ["x", "y"]
