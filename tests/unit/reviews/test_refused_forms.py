"""A form that is not taken gives back what was typed in it: signed out, without the right, from before a sign-in."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client

from tests.unit.reviews.world import World

WORDS = "The header still shows, and <b>more</b>."
FORM = {
    "note-1": WORDS,
    "verdict-1": "not-met",
    "subject": "sha256:00",
    "key": "a-key-of-the-form",
    "password": "hunter22",
}


def assert_words_are_there(body: str) -> None:
    assert "The header still shows, and &lt;b&gt;more&lt;/b&gt;.</textarea>" in body
    for unwanted in ("hunter22", "a-key-of-the-form", "sha256:00", "<b>more"):
        assert unwanted not in body


def test_a_form_of_somebody_signed_out_answers_401_with_the_words(client: Client, db: None) -> None:
    answer = client.post(f"/reviews/{uuid4()}/decide", FORM)
    assert answer.status_code == 401
    assert_words_are_there(answer.content.decode())
    assert "Your session has ended" in answer.content.decode()


def test_a_form_about_what_one_may_not_see_answers_404_with_the_words(ines: Client) -> None:
    answer = ines.post(f"/reviews/{uuid4()}/save", FORM)
    assert answer.status_code == 404
    assert_words_are_there(answer.content.decode())


def test_a_form_from_before_a_sign_in_answers_403_with_the_words(world: World) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(world.ines)
    answer = strict.post(f"/reviews/{uuid4()}/save", FORM)
    assert answer.status_code == 403
    assert_words_are_there(answer.content.decode())


@pytest.mark.parametrize("address", ["/reviews", "/tasks/T-999999"])
def test_a_page_that_is_only_read_gives_nothing_back(client: Client, db: None, address: str) -> None:
    answer = client.get(address, {"note": WORDS}, follow=True)
    assert "textarea" not in answer.content.decode()
