"""`manage.py token`: make, list and end bearer tokens, naming the person who asks for it."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from claims import tokens
from claims.models import Agent, Token
from claims.vocabulary import Scope


class Command(BaseCommand):
    help = "Make, list and end bearer tokens. A token is printed once and never shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        make = verbs.add_parser("make", help="print a new token of an agent or a person")
        holder = make.add_mutually_exclusive_group(required=True)
        holder.add_argument("--agent", help="name of the agent")
        holder.add_argument("--person", help="user name of the person")
        make.add_argument("--scope", action="append", choices=[scope.value for scope in Scope])
        make.add_argument("--name", default="", help="what it is for")
        make.add_argument("--days", type=int, help="days until it expires; no end when absent")
        make.add_argument("--by", help="user name of the person who makes it")
        listed = verbs.add_parser("list", help="list tokens without their secrets")
        listed.add_argument("--agent")
        listed.add_argument("--person")
        for verb, what in (
            ("revoke", "end a token at once"),
            ("rotate", "end a token and print a new one like it"),
        ):
            parsed = verbs.add_parser(verb, help=what)
            parsed.add_argument("prefix", help="the part between fp_ and the second underscore")

    def handle(self, *args: Any, **given: Any) -> None:
        getattr(self, f"_{given['verb']}")(given)

    def _make(self, given: dict[str, Any]) -> None:
        scopes = [Scope(scope) for scope in given["scope"]] if given["scope"] else None
        lifetime = timedelta(days=given["days"]) if given["days"] else None
        try:
            made = tokens.mint(
                agent_id=_agent(given["agent"]),
                person_id=_person(given["person"]),
                scopes=scopes,
                name=given["name"],
                lifetime=lifetime,
                created_by_id=_person(given["by"]),
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(made.token)

    def _list(self, given: dict[str, Any]) -> None:
        found = Token.objects.select_related("agent", "person").order_by("id")
        if given["agent"]:
            found = found.filter(agent__name=given["agent"])
        if given["person"]:
            found = found.filter(person__username=given["person"])
        for token in found:
            end = (
                "revoked"
                if token.revoked_at
                else f"until {token.expires_at:%Y-%m-%d %H:%M} UTC"
                if token.expires_at
                else "no end"
            )
            self.stdout.write(
                f"{token.prefix}  {token.kind:8} {token.agent or token.person}  {','.join(token.scopes)}  {end}  {token.name}"
            )

    def _revoke(self, given: dict[str, Any]) -> None:
        if not tokens.revoke(_token(given["prefix"])):
            raise CommandError("This token had been revoked before.")
        self.stdout.write("Revoked.")

    def _rotate(self, given: dict[str, Any]) -> None:
        try:
            self.stdout.write(tokens.rotate(_token(given["prefix"])).token)
        except ValueError as error:
            raise CommandError(f"{error}.") from error


def _agent(name: str | None) -> int | None:
    if name is None:
        return None
    found = Agent.objects.filter(name=name).values_list("id", flat=True).first()
    if found is None:
        raise CommandError(f"There is no agent {name}.")
    return found


def _person(name: str | None) -> int | None:
    if name is None:
        return None
    found = get_user_model().objects.filter(username=name).values_list("id", flat=True).first()
    if found is None:
        raise CommandError(f"There is no person {name}.")
    return int(found)


def _token(prefix: str) -> int:
    found = Token.objects.filter(prefix=prefix).values_list("id", flat=True).first()
    if found is None:
        raise CommandError(f"There is no token with the prefix {prefix}.")
    return found
