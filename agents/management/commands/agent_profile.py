"""`manage.py agent_profile`: how workers run an agent, and its standing."""

from __future__ import annotations

import json
from argparse import REMAINDER, ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from agents.models import AgentProfile
from claims.models import Agent, Pool

_LIMITS = ("time_limit_seconds", "memory_mb", "output_bytes", "concurrency", "ttl_seconds")


class Command(BaseCommand):
    help = "Let workers run an agent in a pool: `agent_profile set AGENT POOL [options] --command WORD...`; or list, enable, disable."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("list", help="every profile as a line of JSON")
        for verb, what in (
            ("enable", "workers claim for it again"),
            ("disable", "workers leave it alone; what runs, runs on"),
        ):
            parsed = verbs.add_parser(verb, help=what)
            parsed.add_argument("agent")
            parsed.add_argument("pool")
        make = verbs.add_parser("set", help="make a profile, or change the one there is")
        make.add_argument("agent")
        make.add_argument("pool")
        make.add_argument(
            "--repository", help="folder below FENCEPOST_REPOSITORIES, absolute path or git URL"
        )
        make.add_argument("--base-ref", help="branch or commit that work begins from")
        make.add_argument(
            "--variable", action="append", metavar="NAME=VALUE", help="of the command's environment"
        )
        for name in _LIMITS:
            make.add_argument(f"--{name.replace('_', '-')}", type=int)
        make.add_argument(
            "--command", nargs=REMAINDER, default=[], metavar="WORD", help="all words after it; give it last"
        )

    def handle(self, *args: Any, **given: Any) -> None:
        getattr(self, f"_{given['verb']}")(given)

    def _list(self, given: dict[str, Any]) -> None:
        for profile in AgentProfile.objects.select_related("agent", "pool").order_by(
            "pool__name", "agent__name"
        ):
            told = {
                "agent": profile.agent.name,
                "pool": profile.pool.name,
                "enabled": profile.is_enabled,
                "command": profile.command,
            }
            told |= {
                "repository": profile.repository,
                "baseRef": profile.base_ref,
                **{name: getattr(profile, name) for name in _LIMITS},
            }
            self.stdout.write(json.dumps(told))

    def _enable(self, given: dict[str, Any]) -> None:
        self._switch(given, is_enabled=True)

    def _disable(self, given: dict[str, Any]) -> None:
        self._switch(given, is_enabled=False)

    def _switch(self, given: dict[str, Any], *, is_enabled: bool) -> None:
        if not AgentProfile.objects.filter(agent__name=given["agent"], pool__name=given["pool"]).update(
            is_enabled=is_enabled
        ):
            raise CommandError(f"There is no profile of {given['agent']} in {given['pool']}.")

    def _set(self, given: dict[str, Any]) -> None:
        agent, pool = (
            Agent.objects.filter(name=given["agent"]).first(),
            Pool.objects.filter(name=given["pool"]).first(),
        )
        if agent is None or pool is None:
            raise CommandError(
                f"There is no {'agent ' + given['agent'] if agent is None else 'pool ' + given['pool']}."
            )
        profile = AgentProfile.objects.filter(agent=agent, pool=pool).first() or AgentProfile(
            agent=agent, pool=pool
        )
        wanted = {
            name: given[name] for name in ("repository", "base_ref", *_LIMITS) if given[name] is not None
        }
        if given["command"]:
            wanted["command"] = given["command"]
        if given["variable"]:
            wanted["environment"] = dict(pair.partition("=")[::2] for pair in given["variable"])
        for name, value in wanted.items():
            setattr(profile, name, value)
        try:
            profile.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        profile.save()
        self.stdout.write(f"Workers run {agent.name} in {pool.name}: {' '.join(profile.command)}")
