"""How people are called on pages. History keeps the name a person signs in with."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User

from claims.models import History, Refusal
from claims.vocabulary import ActorKind


def names(ids: Iterable[int]) -> dict[int, str]:
    """The full name of each person, else the sign-in name. One query, none for nobody."""
    wanted = set(ids)
    people = User.objects.filter(pk__in=wanted) if wanted else ()
    return {person.pk: person.get_full_name() or person.get_username() for person in people}


def actors(rows: Iterable[History | Refusal]) -> dict[int, str]:
    """The same of the people who did what some rows tell of."""
    return names(row.actor_id for row in rows if row.actor_kind == ActorKind.PERSON)
