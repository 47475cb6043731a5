"""`manage.py found`: make pools, people, rights, groups of reviewers and agents; and list them.

Promises: each part is idempotent and says in one sentence what it did, or that it was so before.
Nothing is taken away, and no task is touched.
"""

from __future__ import annotations

import secrets
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import Model

from claims import founding
from claims.inputs import NAME
from claims.models import Agent, Membership, Pool, ReviewerGroup
from claims.rights import expand
from claims.vocabulary import ReclaimPolicy, Right

Row = TypeVar("Row", bound=Model)

MOST_WINDOW_SECONDS = 7 * 86_400
LEAST_TTL_SECONDS, MOST_TTL_SECONDS = 1, 3_600
"""What a lease of a new pool may last; ``Pool.max_ttl_seconds`` of a new pool is the upper one."""


class Command(BaseCommand):
    help = "Make pools, people, rights, groups of reviewers and agents, and list them. Each may be run again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        _of_pool(verbs.add_parser("pool", help="a pool, which must be there before tasks and agents"))
        person = verbs.add_parser("person", help="somebody who signs in; prints a password once")
        person.add_argument("name", help="the name to sign in with")
        person.add_argument("--full-name", default="", metavar="NAME")
        person.add_argument("--email", default="")
        right = verbs.add_parser("right", help="rights of a person in a pool, beside those held already")
        right.add_argument("person")
        right.add_argument("pool")
        right.add_argument(
            "rights", nargs="+", type=str.upper, choices=[each.value for each in Right], metavar="RIGHT"
        )
        group = verbs.add_parser("group", help="reviewers of a pool who may decide in each other's place")
        group.add_argument("pool")
        group.add_argument("name")
        group.add_argument("people", nargs="+", metavar="PERSON")
        agent = verbs.add_parser("agent", help="an agent, its owner, and the pools it works in")
        agent.add_argument("name")
        agent.add_argument("--owner", required=True, metavar="PERSON", help="who answers for it")
        agent.add_argument("--pool", required=True, nargs="+", action="extend", metavar="POOL")
        agent.add_argument("--label", nargs="+", action="extend", metavar="LABEL", help="what it can do")
        verbs.add_parser("list", help="everything there is")

    def handle(self, *args: Any, **given: Any) -> None:
        with transaction.atomic():
            getattr(self, f"_{given['verb']}")(given)

    def _pool(self, given: dict[str, Any]) -> None:
        name = _name("pool", given["name"])
        if not LEAST_TTL_SECONDS <= given["ttl"] <= MOST_TTL_SECONDS:
            raise CommandError(f"--ttl is from {LEAST_TTL_SECONDS} to {MOST_TTL_SECONDS} seconds.")
        if not MOST_TTL_SECONDS <= given["window"] <= MOST_WINDOW_SECONDS:
            raise CommandError(f"--window is from {MOST_TTL_SECONDS} to {MOST_WINDOW_SECONDS} seconds.")
        if Pool.objects.filter(name=name).exists():
            self._say(f"The pool {name} was there; it stays as it is.")
            return
        policy = ReclaimPolicy.AUTO if given["auto"] else ReclaimPolicy.MANUAL
        founding.found_pool(
            name,
            title=given["title"],
            reclaim_policy=policy.value,
            allows_unreviewed=given["unreviewed"],
            ttl_seconds=given["ttl"],
            window_seconds=given["window"],
        )
        self._say(f"Made the pool {name}. Nobody sees it before having a right in it.")

    def _person(self, given: dict[str, Any]) -> None:
        name = given["name"]
        first, _, last = given["full_name"].strip().partition(" ")
        person = User(username=name, first_name=first, last_name=last.strip(), email=given["email"])
        password = secrets.token_urlsafe(15)
        # Before the first statement: on a busy machine a password takes longer than a transaction may idle.
        person.set_password(password)
        if User.objects.filter(username=name).exists():
            self._say(f"{name} was there; name, e-mail and password stay as they are.")
            return
        try:
            person.full_clean()
        except ValidationError as error:
            raise CommandError(f"{name} cannot be made: {' '.join(error.messages)}") from error
        person.save()
        self._say(f"Made {name}, who signs in with the password {password}")
        self._say("This password is shown once; it can be changed at /account/password.")

    def _right(self, given: dict[str, Any]) -> None:
        person, pool = _person(given["person"]), _pool(given["pool"])
        held = set(Membership.objects.filter(pool=pool, person=person).values_list("right", flat=True))
        for right in given["rights"]:
            founding.give_rights(pool, {person: Right(right)})
        new = [right for right in dict.fromkeys(given["rights"]) if right not in held]
        if not new:
            self._say(f"{person.username} had {_words(given['rights'])} in {pool.name} before.")
            return
        self._say(f"{person.username} has {_words(new)} in {pool.name} from now on.")

    def _group(self, given: dict[str, Any]) -> None:
        pool, name = _pool(given["pool"]), _name("group", given["name"])
        people = [_person(each) for each in dict.fromkeys(given["people"])]
        for person in people:
            held = Membership.objects.filter(pool=pool, person=person).values_list("right", flat=True)
            if Right.REVIEWER not in expand(held):
                raise CommandError(f"{person.username} has no right to review in {pool.name}; give it first.")
        group, _ = ReviewerGroup.objects.get_or_create(pool=pool, name=name)
        group.members.add(*people)
        members = group.members.order_by("username").values_list("username", flat=True)
        self._say(f"The group {name} of {pool.name} is {_words(members)}.")

    def _agent(self, given: dict[str, Any]) -> None:
        name, owner = _name("agent", given["name"]), _person(given["owner"])
        pools = [_pool(each) for each in dict.fromkeys(given["pool"])]
        known = Agent.objects.select_related("owner").filter(name=name).first()
        if known is not None and known.owner_id != owner.id:
            raise CommandError(
                f"The agent {name} belongs to {known.owner.get_username()}; its owner cannot be changed."
            )
        kept = known.labels if known else []
        labels = {_name("label", each) for each in given["label"]} if given["label"] else kept
        agent = founding.found_agent(name, owner, labels, pools)
        where = _words(agent.agent_pools.order_by("pool__name").values_list("pool__name", flat=True))
        self._say(f"The agent {name} of {owner.username} works in {where}, {_labelled(agent.labels)}.")

    def _list(self, given: dict[str, Any]) -> None:
        for pool in Pool.objects.order_by("name"):
            self._say(
                f"pool {pool.name}  {pool.reclaim_policy}, leases of {pool.ttl_seconds} s  {pool.title}"
            )
            for person, right in pool.memberships.order_by("person__username", "right").values_list(
                "person__username", "right"
            ):
                self._say(f"  {right:8} {person}")
            for group in pool.reviewer_groups.order_by("name"):
                members = group.members.order_by("username").values_list("username", flat=True)
                self._say(f"  group    {group.name}: {_words(members)}")
        for user in User.objects.filter(is_active=True).order_by("username"):
            self._say(f"person {user.username}  {user.get_full_name()}  {user.email}".rstrip())
        for agent in Agent.objects.select_related("owner").order_by("name"):
            where = _words(agent.agent_pools.order_by("pool__name").values_list("pool__name", flat=True))
            state = ", disabled" if agent.is_disabled else ""
            self._say(
                f"agent {agent.name}  of {agent.owner.get_username()} in {where}, {_labelled(agent.labels)}{state}"
            )

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)


def _of_pool(parser: ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--title", default="", help="what people read")
    parser.add_argument("--unreviewed", action="store_true", help="allow tasks that nobody decides on")
    parser.add_argument("--auto", action="store_true", help="a claim that expires may be taken by another")
    parser.add_argument("--ttl", type=int, default=300, metavar="SECONDS", help="of a lease (default 300)")
    parser.add_argument(
        "--window",
        type=int,
        default=6 * 3_600,
        metavar="SECONDS",
        help="how long one claim may be renewed (default 6 hours)",
    )


def _name(what: str, name: str) -> str:
    if NAME.fullmatch(name) is None:
        raise CommandError(
            f"{name} is no name for a {what}; take lower-case letters, digits and . _ - alone."
        )
    return name


def _person(name: str) -> User:
    return _found(User.objects.filter(username=name, is_active=True).first(), f"person {name}")


def _pool(name: str) -> Pool:
    return _found(Pool.objects.filter(name=name).first(), f"pool {name}")


def _found(row: Row | None, what: str) -> Row:
    if row is None:
        raise CommandError(f"There is no {what}; make it first.")
    return row


def _words(names: Iterable[str]) -> str:
    return ", ".join(names) or "nobody"


def _labelled(labels: Iterable[str]) -> str:
    return f"with the labels {', '.join(labels)}" if labels else "without labels"
