"""What a diff touches."""

from hypothesis import given
from hypothesis import strategies as st

from claims.evidence.diffs import changes_of, standing, standing_of
from claims.inputs import ScopeOfFiles

RENAME = b"""diff --git a/data/old.json b/app/new.json
similarity index 100%
rename from data/old.json
rename to app/new.json
diff --git "a/p\\303\\244ge.html" "b/p\\303\\244ge.html"
--- "a/p\\303\\244ge.html"
+++ "b/p\\303\\244ge.html"
@@ -1,2 +1,2 @@
--- a line that looks like a header
+++ and another one
 same
\\ No newline at end of file
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
"""


def test_each_file_has_its_names_and_its_lines():
    moved, page, mode, logo = changes_of(RENAME)
    assert moved.names == ["data/old.json", "app/new.json"]
    assert (page.path, page.added, page.removed) == ("päge.html", 1, 1)
    assert (mode.path, mode.added) == ("run.sh", 0)
    assert (logo.path, logo.is_binary) == ("logo.png", True)


def test_a_plain_diff_without_git_lines_is_read_too():
    diff = b"--- a/x.py\t2026-01-01\n+++ b/x.py\t2026-01-02\n@@ -1 +1,2 @@\n a\n+b\n--- a/y.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    first, second = changes_of(diff)
    assert (first.path, first.added, first.removed) == ("x.py", 1, 0)
    assert (second.path, second.added, second.removed) == ("y.py", 0, 1)


def test_excluded_wins_over_inside_and_climbing_out_is_outside():
    scope = ScopeOfFiles(files=["app/**"], excluded=["app/secret/**"])
    assert standing(scope, "app/x.py") == "inside"
    assert standing(scope, "app/secret/x.py") == "excluded"
    assert standing(scope, "README.md") == "outside"
    assert standing(scope, "app/../../etc/passwd") == "outside"
    assert standing(ScopeOfFiles(), "anything") == "inside"


def test_moving_an_excluded_file_away_touches_it():
    scope = ScopeOfFiles(files=["**"], excluded=["data/**"])
    assert standing_of(scope, changes_of(RENAME)[0]) == "excluded"


@given(st.binary(max_size=2_000))
def test_any_bytes_are_read_without_an_exception(content):
    changes_of(b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n" + content)
    changes_of(content)


def test_a_hunk_that_counts_more_lines_than_it_has_hides_no_file_after_it():
    padded = b"diff --git a/ok.html b/ok.html\n--- a/ok.html\n+++ b/ok.html\n@@ -1,9999 +1,9999 @@\n-a\n+b\n"
    git = (
        padded
        + b"diff --git a/secret/key b/secret/key\n--- a/secret/key\n+++ b/secret/key\n@@ -1 +1 @@\n-a\n+b\n"
    )
    plain = padded.partition(b"\n")[2] + b"--- a/secret/key\n+++ b/secret/key\n@@ -1 +1 @@\n-a\n+b\n"
    for content in (git, plain):
        assert [change.path for change in changes_of(content)] == ["ok.html", "secret/key"]
