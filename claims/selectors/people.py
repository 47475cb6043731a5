"""How people are called on pages. History keeps the name a person signs in with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User

from claims.models import Membership
from claims.rights import expand
from claims.vocabulary import Right


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who may see a pool."""

    id: int
    name: str
    rights: frozenset[Right]


def names(ids: Iterable[int]) -> dict[int, str]:
    """The full name of each person, else the sign-in name. One query, none for nobody."""
    wanted = set(ids)
    people = User.objects.filter(pk__in=wanted) if wanted else ()
    return {person.pk: _called(person) for person in people}


def readers(pool_id: int, ids: Iterable[int]) -> dict[int, Reader]:
    """Those of some people who may see a pool now, by id. One query, none for nobody."""
    wanted = set(ids)
    if not wanted:
        return {}
    rows = Membership.objects.filter(pool_id=pool_id, person_id__in=wanted, person__is_active=True)
    held: dict[int, tuple[User, set[Right]]] = {}
    for row in rows.select_related("person"):
        held.setdefault(row.person_id, (row.person, set()))[1].add(Right(row.right))
    return {key: Reader(key, _called(person), expand(rights)) for key, (person, rights) in held.items()}


def _called(person: User) -> str:
    return person.get_full_name() or person.get_username()
