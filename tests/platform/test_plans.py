"""Pages prepare no statement, so that each gets a plan for what is asked; the API's stay prepared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

pytestmark = pytest.mark.django_db


def thresholds(of: Callable[[], Any]) -> set[int | None]:
    """After how many calls this thread's connection prepared statements while something ran."""
    seen: set[int | None] = set()

    def look(execute: Callable[..., Any], *call: Any) -> Any:
        seen.add(connection.connection.prepare_threshold)
        return execute(*call)

    with connection.execute_wrapper(look):
        of()
    return seen


def test_a_page_prepares_nothing_and_leaves_the_connection_as_it_was(client: Client) -> None:
    connection.ensure_connection()
    before = connection.connection.prepare_threshold
    client.force_login(User.objects.create_user("ines"))
    assert thresholds(lambda: client.get("/board")) == {None}
    assert thresholds(lambda: client.get("/no/such/page")) == {None}
    assert connection.connection.prepare_threshold == before


def test_the_api_s_statements_stay_prepared(client: Client) -> None:
    connection.ensure_connection()
    before = connection.connection.prepare_threshold
    assert before is not None
    headers = {"Authorization": "Bearer fp_nobody"}
    assert thresholds(lambda: client.get("/api/v1/whoami", headers=headers)) <= {before}
