"""`manage.py found`: what it makes, that it may be run again, and what it says when it cannot."""

from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from claims.models import Agent, Membership, Pool, ReviewerGroup

pytestmark = pytest.mark.django_db


def found(*words: str) -> str:
    said = StringIO()
    call_command("found", *words, stdout=said)
    return said.getvalue()


@pytest.fixture
def shop() -> Pool:
    found("pool", "shop", "--title", "The shop", "--ttl", "120", "--auto", "--unreviewed")
    found("person", "ines", "--full-name", "Ines Halvorsen", "--email", "ines@example.org")
    found("person", "omar")
    return Pool.objects.get(name="shop")


def test_a_pool_has_the_policies_it_was_made_with_and_keeps_them(shop: Pool) -> None:
    assert (shop.title, shop.ttl_seconds, shop.reclaim_policy, shop.allows_unreviewed) == (
        "The shop",
        120,
        "AUTO",
        True,
    )
    assert found("pool", "shop", "--ttl", "60") == "The pool shop was there; it stays as it is.\n"
    assert Pool.objects.get(name="shop").ttl_seconds == 120


def test_a_pool_may_have_a_window_of_its_own_within_bounds() -> None:
    found("pool", "night", "--window", "3600")
    assert Pool.objects.get(name="night").window_seconds == 3_600
    for wrong in ("3599", "604801"):
        with pytest.raises(CommandError, match="--window is from 3600 to 604800 seconds"):
            found("pool", "day", "--window", wrong)


def test_the_printed_password_is_the_persons_and_is_not_made_anew() -> None:
    said = found("person", "lea", "--full-name", "Lea van den Berg")
    password = said.splitlines()[0].rsplit(" ", 1)[1]

    lea = User.objects.get(username="lea")
    assert lea.check_password(password)
    assert lea.get_full_name() == "Lea van den Berg"
    assert not lea.is_superuser
    assert "stay as they are" in found("person", "lea")
    assert User.objects.get(username="lea").check_password(password)


def test_rights_are_added_to_those_held(shop: Pool) -> None:
    assert found("right", "ines", "shop", "reviewer") == "ines has REVIEWER in shop from now on.\n"
    assert (
        found("right", "ines", "shop", "REVIEWER", "OPERATOR") == "ines has OPERATOR in shop from now on.\n"
    )
    assert found("right", "ines", "shop", "OPERATOR") == "ines had OPERATOR in shop before.\n"
    assert set(Membership.objects.values_list("right", flat=True)) == {"REVIEWER", "OPERATOR"}


def test_a_group_holds_reviewers_alone(shop: Pool) -> None:
    found("right", "ines", "shop", "REVIEWER")
    with pytest.raises(CommandError, match="omar has no right to review in shop; give it first"):
        found("group", "shop", "front", "ines", "omar")
    assert not ReviewerGroup.objects.exists()

    found("right", "omar", "shop", "ADMIN")
    assert found("group", "shop", "front", "ines") == "The group front of shop is ines.\n"
    assert found("group", "shop", "front", "omar") == "The group front of shop is ines, omar.\n"


def test_an_agent_keeps_labels_that_are_not_named_again(shop: Pool) -> None:
    found("pool", "annex")
    found("agent", "fixer", "--owner", "omar", "--pool", "shop", "--label", "python", "browser")
    said = found("agent", "fixer", "--owner", "omar", "--pool", "annex")

    assert said == "The agent fixer of omar works in annex, shop, with the labels browser, python.\n"
    assert Agent.objects.get(name="fixer").labels == ["browser", "python"]


def test_an_agent_stays_with_its_owner(shop: Pool) -> None:
    found("agent", "fixer", "--owner", "omar", "--pool", "shop")
    with pytest.raises(CommandError, match="The agent fixer belongs to omar"):
        found("agent", "fixer", "--owner", "ines", "--pool", "shop")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("right", "nobody", "shop", "VIEWER"), "There is no person nobody; make it first."),
        (("right", "ines", "nowhere", "VIEWER"), "There is no pool nowhere; make it first."),
        (("agent", "fixer", "--owner", "ines", "--pool", "nowhere"), "There is no pool nowhere"),
        (("pool", "two words"), "two words is no name for a pool"),
        (("pool", "long", "--ttl", "3601"), "--ttl is from 1 to 3600 seconds."),
        (("person", "a b"), "a b cannot be made"),
        (("right", "ines", "shop", "KING"), "invalid choice"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_sentence(
    shop: Pool, words: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        found(*words)
    assert not Agent.objects.exists()


def test_the_list_shows_everything_that_was_made(shop: Pool) -> None:
    found("right", "ines", "shop", "REVIEWER")
    found("group", "shop", "front", "ines")
    found("agent", "fixer", "--owner", "omar", "--pool", "shop")

    assert found("list").splitlines() == [
        "pool shop  AUTO, leases of 120 s  The shop",
        "  REVIEWER ines",
        "  group    front: ines",
        "person ines  Ines Halvorsen  ines@example.org",
        "person omar",
        "agent fixer  of omar in shop, without labels",
    ]
