"""Changing one's own password."""

from __future__ import annotations

import re

import pytest
from django.core.cache import cache
from django.test import Client

from reviews.signin import tries
from tests.unit.reviews.world import PASSWORD, World

NEW = "seven tall gate posts"


@pytest.fixture(autouse=True)
def nobody_has_guessed_yet() -> None:
    tries._local.clear()
    cache.clear()


def change(client: Client, old: str = PASSWORD, new: str = NEW, again: str | None = None):  # type: ignore[no-untyped-def]
    typed = {"old_password": old, "new_password1": new, "new_password2": new if again is None else again}
    return client.post("/account/password", typed)


def test_the_new_password_holds_here_and_ends_the_sessions_elsewhere(ines: Client, world: World) -> None:
    elsewhere = Client()
    elsewhere.force_login(world.ines)

    answer = change(ines)

    assert answer["Location"] == "/account/password"
    assert "Your password is changed" in ines.get("/account/password").content.decode()
    assert elsewhere.get("/board")["Location"].startswith("/signin")
    world.ines.refresh_from_db()
    assert world.ines.check_password(NEW)


@pytest.mark.parametrize(
    ("typed", "flaw"),
    [
        ({"old": "wrong"}, "old password was entered incorrectly"),
        ({"new": "short"}, "at least 12 characters"),
        ({"new": "123456789012345"}, "entirely numeric"),
        ({"again": "another one"}, "match"),
        ({"old": "", "new": ""}, "required"),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_nothing_changes(
    ines: Client, world: World, typed: dict[str, str], flaw: str
) -> None:
    answer = change(ines, **typed)

    html = answer.content.decode()
    errors = re.findall(r'<p class="error" id="[a-z]+-err" role="alert">(.*?)</p>', html)
    assert answer.status_code == 422
    assert any(flaw in error for error in errors)
    assert not {PASSWORD, NEW} & set(re.findall(r'value="([^"]*)"', html)), "what was typed is not sent back"
    world.ines.refresh_from_db()
    assert world.ines.check_password(PASSWORD)


def test_guessing_the_old_password_is_limited_like_signing_in(ines: Client, world: World) -> None:
    answers = [change(ines, old="wrong") for _ in range(5)]

    assert [answer.status_code for answer in answers] == [422] * 4 + [429]
    locked = change(ines)
    assert locked.status_code == 429
    assert locked["Retry-After"] == str(tries.WINDOW_SECONDS)
    world.ines.refresh_from_db()
    assert world.ines.check_password(PASSWORD)


def test_the_persons_menu_leads_there_and_others_sign_in_first(ines: Client) -> None:
    assert 'href="/account/password"' in ines.get("/board").content.decode()
    assert Client().get("/account/password")["Location"] == "/signin?next=%2Faccount%2Fpassword"
