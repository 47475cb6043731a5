"""Globs of a scope."""

import time

import pytest

from claims.evidence.globs import matches


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("templates/billing.html", "templates/billing.html"),
        ("*.html", "page.html"),
        ("*.html", "templates/deep/page.html"),
        ("tests/**", "tests/a/b.py"),
        ("tests/", "tests/a/b.py"),
        ("tests", "tests/a/b.py"),
        ("app/tests", "app/tests/b.py"),
        ("**/b.py", "b.py"),
        ("**/b.py", "x/y/b.py"),
        ("a/**/b.py", "a/b.py"),
        ("a/**/b.py", "a/x/y/b.py"),
        ("a/*/c", "a/b/c"),
        ("data-?.json", "data-1.json"),
        ("./app/*.py", "app/x.py"),
        ("**", "anything/at/all"),
        ("[ab].txt", "[ab].txt"),
    ],
)
def test_a_glob_means_what_people_write(pattern, path):
    assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("a/*", "b/a/c"),
        ("a/*/c", "a/b/x/c"),
        ("templates/*.html", "templates/deep/page.html"),
        ("data-?.json", "data-12.json"),
        ("app/tests", "app/testsuite/b.py"),
        ("", "a"),
        ("/", "a"),
        ("a/**/b.py", "x/a/b.py"),
    ],
)
def test_a_glob_means_nothing_more(pattern, path):
    assert not matches(pattern, path)


def test_a_hostile_pattern_takes_no_longer_than_another():
    began = time.monotonic()
    assert not matches("**/" * 100 + "*a" * 100, "a/" * 200 + "a" * 400 + "b")
    assert time.monotonic() - began < 1
