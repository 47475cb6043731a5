"""Signing in and out, preferences, and the pages for what went wrong."""

from __future__ import annotations

import pytest
from django.conf import LazySettings
from django.core.cache import cache
from django.http import HttpRequest
from django.test import Client

from reviews.signin import tries, views
from tests.unit.reviews.world import PASSWORD, World


@pytest.fixture(autouse=True)
def nobody_has_guessed_yet() -> None:
    tries._local.clear()
    cache.clear()


def sign_in(client: Client, name: str = "ines", password: str = PASSWORD, **more: str):  # type: ignore[no-untyped-def]
    return client.post("/signin", {"username": name, "password": password, **more})


def test_the_right_password_leads_on_to_the_page_that_was_wanted(client: Client, world: World) -> None:
    wanted = client.get("/board?state=OPEN")
    assert wanted["Location"] == "/signin?next=%2Fboard%3Fstate%3DOPEN"
    assert sign_in(client, next="/board?state=OPEN")["Location"] == "/board?state=OPEN"


def test_an_email_address_works_like_the_name(client: Client, world: World) -> None:
    assert sign_in(client, name="ines@example.org").status_code == 302


@pytest.mark.parametrize(
    "elsewhere", ["https://example.com/", "//example.com", "/\\example.com", "javascript:alert(1)", "board"]
)
def test_signing_in_never_leads_to_another_site(client: Client, world: World, elsewhere: str) -> None:
    assert sign_in(client, next=elsewhere)["Location"] == "/"


def test_a_wrong_name_and_a_wrong_password_get_the_same_answer_and_the_tries_left(
    client: Client, world: World
) -> None:
    answers = [sign_in(client, name, "wrong").content.decode() for name in ("ines", "nobody")]
    for html in answers:
        assert "Name and password do not match. 4 tries left." in html


def test_after_five_wrong_guesses_even_the_right_password_has_to_wait(client: Client, world: World) -> None:
    for _ in range(4):
        assert sign_in(client, password="wrong").status_code == 401
    assert sign_in(client, password="wrong").status_code == 429
    locked = sign_in(client)
    assert locked.status_code == 429
    assert locked["Retry-After"] == str(tries.WINDOW_SECONDS)
    assert sign_in(client, name="ben").status_code == 302, "another name from there may still sign in"


def test_guesses_made_at_once_are_not_more_guesses(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []

    def look(request: HttpRequest, name: str, password: str) -> None:
        """While one password is being looked at, the next guess comes in."""
        looked_at.append(password)
        sign_in(Client(), password=f"wrong-{len(looked_at)}")

    monkeypatch.setattr(views, "_person", look)
    sign_in(client, password="wrong")
    assert len(looked_at) == tries.TRIES_A_NAME


@pytest.mark.parametrize("is_trusted", [True, False])
def test_behind_a_trusted_proxy_one_callers_guesses_lock_nobody_else_out(
    client: Client, world: World, settings: LazySettings, is_trusted: bool
) -> None:
    settings.FENCEPOST_TRUSTED_PROXY = is_trusted
    for number in range(tries.TRIES_AN_ADDRESS):
        made_up = {"X-Forwarded-For": f"10.0.0.{number}, 203.0.113.7"}
        client.post("/signin", {"username": f"name-{number}", "password": "wrong"}, headers=made_up)
    ines = {"username": "ines", "password": PASSWORD}
    seen = [
        client.post("/signin", ines, headers={"X-Forwarded-For": f"10.0.0.99, {address}"}).status_code
        for address in ("203.0.113.7", "203.0.113.8")
    ]
    assert seen == ([429, 302] if is_trusted else [429, 429])


def test_the_right_password_leaves_the_address_its_tries(client: Client, world: World) -> None:
    for _ in range(tries.TRIES_AN_ADDRESS + 1):
        assert sign_in(Client()).status_code == 302


def test_guesses_are_counted_in_this_process_when_the_cache_forgets(client: Client, world: World) -> None:
    for _ in range(5):
        sign_in(client, password="wrong")
        cache.clear()
    assert sign_in(client).status_code == 429


def test_one_address_cannot_try_many_names(client: Client, world: World) -> None:
    for number in range(tries.TRIES_AN_ADDRESS):
        sign_in(client, f"name-{number}", "wrong")
    assert sign_in(client).status_code == 429


def test_the_typed_name_stays_and_the_password_does_not(client: Client, world: World) -> None:
    html = sign_in(client, password="wrong-pass").content.decode()
    assert 'value="ines"' in html
    assert "wrong-pass" not in html


def test_a_nul_in_the_name_is_a_wrong_name_and_no_fault(client: Client, world: World) -> None:
    assert sign_in(client, name="in\x00es").status_code == 401


def test_somebody_whose_account_is_off_cannot_sign_in(client: Client, world: World) -> None:
    world.ines.is_active = False
    world.ines.save()
    assert sign_in(client).status_code == 401


def test_signing_out_is_a_post_and_ends_the_session(ines: Client, world: World) -> None:
    assert ines.get("/signout").status_code == 405
    assert ines.post("/signout")["Location"] == "/signin"
    assert ines.get("/board").status_code == 302


def test_a_fragment_without_a_session_answers_401_so_that_the_page_can_stay(
    client: Client, world: World
) -> None:
    assert client.get("/board/columns", HTTP_HX_REQUEST="true").status_code == 401


def test_a_form_without_its_token_is_refused_in_words_with_the_request_id(world: World) -> None:
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post("/signin", {"username": "ines", "password": PASSWORD})
    assert answer.status_code == 403
    assert "The form could not be checked" in answer.content.decode()
    assert "request <code>" in answer.content.decode()


def test_theme_and_single_keys_are_kept_in_cookies_and_drawn_by_the_server(
    ines: Client, world: World
) -> None:
    ines.post("/preferences", {"theme": "dark", "next": "/board"})
    ines.post("/preferences", {"keys": "off", "next": "/board"})
    html = ines.get("/board").content.decode()
    assert 'data-theme="dark"' in html
    assert 'data-keys="off"' in html
    ines.post("/preferences", {"theme": "system", "keys": "on", "next": "/board"})
    assert "data-theme" not in ines.get("/board").content.decode()


def test_an_address_that_no_page_has_answers_not_found_in_the_same_frame(
    ines: Client, client: Client, world: World
) -> None:
    html = ines.get("/nowhere/at/all").content.decode()
    assert "Nothing to see at this address" in html
    assert 'class="top"' in html
    assert Client().get("/nowhere/at/all").status_code == 404


def test_pages_are_private_and_say_their_request(ines: Client, world: World) -> None:
    answer = ines.get("/board")
    assert "private" in answer["Cache-Control"]
    assert answer["X-Request-Id"] in answer.content.decode() or answer["X-Request-Id"]


def test_the_policy_allows_nothing_inline(ines: Client, world: World) -> None:
    policy = ines.get("/board")["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
