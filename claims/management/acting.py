"""What the operators' commands share: the person they act for, and how a refusal is told.

A command has no rights of its own. It calls the verb as the person it names, and the verb checks
that person's rights in its own transaction.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import TypeVar
from uuid import UUID

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from claims.callers import Actor, Caller
from claims.models import Effect, Pool, TaskInput
from claims.outcomes import Refused, Why
from claims.vocabulary import ActorKind, Source

T = TypeVar("T")

_TASK = re.compile(r"(?:T-)?([0-9]{1,18})", re.ASCII)
_EFFECT = re.compile(r"[0-9a-f]{12,64}", re.ASCII)


def add_person(parser: ArgumentParser) -> None:
    """The argument that every one of these commands has."""
    parser.add_argument(
        "--as", dest="person", required=True, metavar="USERNAME", help="who does this; checked for the right"
    )


def caller_for(username: str) -> Caller:
    """The person at this server's command line. Raises ``CommandError`` where there is none of that name."""
    person = User.objects.filter(username=username, is_active=True).first()
    if person is None:
        raise CommandError(f"There is no person {username}.")
    return Caller(Actor(ActorKind.PERSON, person.pk, person.username), Source.COMMAND)


def pool_id_of(name: str) -> int:
    """The id of a pool. Raises ``CommandError`` where there is none of that name."""
    found = Pool.objects.filter(name=name).values_list("id", flat=True).first()
    if found is None:
        raise CommandError(f"There is no pool {name}.")
    return found


def task_id_of(written: str) -> UUID:
    """The task that people see as ``T-1042``. Raises ``CommandError`` where there is none."""
    number = _TASK.fullmatch(written)
    found = (
        TaskInput.objects.filter(number=int(number[1])).values_list("task_id", flat=True) if number else None
    )
    task_id = found.first() if found is not None else None
    if task_id is None:
        raise CommandError(f"There is no task {written}; name it like T-1042.")
    return task_id


def effect_named(written: str) -> Effect:
    """The effect of this effectId, or of so much of it that it is the only one.

    Raises ``CommandError`` where there is none, or more than one.
    """
    is_id = _EFFECT.fullmatch(written) is not None
    found = list(Effect.objects.filter(id__startswith=written).order_by("id")[:2]) if is_id else []
    if len(found) != 1:
        how_many = "More than one" if found else "No"
        raise CommandError(f"{how_many} effect begins with {written}; give 12 characters of its id or more.")
    return found[0]


def answered(outcome: T | Refused, caller: Caller, about: str) -> T:
    """What the verb answered. Raises ``CommandError`` with a refusal's sentence and what is true now."""
    if not isinstance(outcome, Refused):
        return outcome
    if outcome.why is Why.NOT_FOUND:
        raise CommandError(f"There is no {about} in which {caller.actor.name} has a right.")
    now = {**_plain(outcome.extra), **(_plain(outcome.current.as_json()) if outcome.current else {})}
    truth = f" Now: {', '.join(f'{name} {value}' for name, value in now.items())}." if now else ""
    raise CommandError(f"{outcome.why}: {outcome.sentence}{truth}")


def _plain(values: Mapping[str, object]) -> dict[str, object]:
    """Those values that fit into a line."""
    return {name: value for name, value in values.items() if isinstance(value, str | int)}
