"""How people are called on pages. History keeps the name a person signs in with."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User


def names(ids: Iterable[int]) -> dict[int, str]:
    """The full name of each person, else the sign-in name. One query, none for nobody."""
    wanted = set(ids)
    people = User.objects.filter(pk__in=wanted) if wanted else ()
    return {person.pk: person.get_full_name() or person.get_username() for person in people}
