"""/help/problems: every code of the API has a page that says what to do next."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils.html import escape

from claims.api.problems import problem_of
from claims.outcomes import RULES, Refused, Why
from reviews.help.problems import problems

CODES = [each.code for each in problems()]


@pytest.mark.parametrize("why", list(Why))
def test_the_type_of_every_refusal_is_a_page_that_needs_no_sign_in(client: Client, why: Why) -> None:
    html = client.get(problem_of(Refused(why), "req_1")["type"])

    assert html.status_code == 200
    assert escape(RULES[why].sentence) in html.content.decode()
    assert f"HTTP status {RULES[why].status}" in html.content.decode()


@pytest.mark.parametrize("each", problems(), ids=CODES)
def test_every_code_says_what_to_do_next(each) -> None:  # type: ignore[no-untyped-def]
    assert each.next


@pytest.mark.parametrize("code", ["METHOD_NOT_ALLOWED", "FAULT", "fenced", "Stale_State"])
def test_faults_have_a_page_and_small_letters_are_taken(client: Client, code: str) -> None:
    assert f"<h1><code>{code.upper()}</code></h1>" in client.get(f"/help/problems/{code}").content.decode()


def test_the_table_leads_to_every_code(client: Client) -> None:
    html = client.get("/help/problems").content.decode()

    assert [code for code in CODES if f'href="/help/problems/{code}"' not in html] == []


@pytest.mark.django_db
def test_a_signed_in_person_keeps_header_and_navigation(ines: Client) -> None:
    for address in ("/help/problems", "/help/problems/FENCED"):
        html = ines.get(address).content.decode()
        assert 'class="top"' in html
        assert 'action="/signout"' in html


def test_a_code_that_no_answer_has_is_not_found(client: Client) -> None:
    answer = client.get("/help/problems/NOTHING")

    assert answer.status_code == 404
    assert "No answer of this server has a code of this name." in answer.content.decode()
