"""The demo: people, two pools, a repository, agents, and tasks that they really do.

Promises: sowing again changes nothing but what is missing; passwords and tokens are those of the
credentials file for as long as that is there. They are for the demo only: whoever can read the
data folder can read them. The deliveries that follow are the work of the workers, not of this.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from agents.git import git
from agents.models import AgentProfile
from claims import founding, tokens, transitions
from claims.callers import Actor, Caller
from claims.models import Agent, Pool, Task
from claims.outcomes import Created, CreatedTask, Granted, Refused
from claims.taskfile import Template, load_template
from claims.vocabulary import ActorKind, ReclaimPolicy, Right, Source

DEMO = Path(__file__).resolve().parent / "demo"
PEOPLE = {
    "admin": ("lea.brandt", "Lea", "Brandt", Right.ADMIN),
    "reviewer": ("ines.halvorsen", "Ines", "Halvorsen", Right.REVIEWER),
    "operator": ("noor.haddad", "Noor", "Haddad", Right.OPERATOR),
    "preparer": ("ben.okafor", "Ben", "Okafor", Right.PREPARER),
}
OWNERS = {
    "guest-1": "preparer",
    "guest-2": "admin",
    "careful": "admin",
    "careless": "preparer",
    "sleeper": "preparer",
}
"""Each agent and the role of its owner, who may not decide on its work. Nothing runs the guests: they are
there for trying the API."""

PHOTOGRAPHERS = ("careful", "careless")
SLEEPERS_TASK = "csv-header"
SLEEPERS_TTL_SECONDS = 40
PACE_SECONDS = "2"
BEGAN = "2026-03-02T09:00:00Z"
"""The date of the demo repository's first commit, so that its id is the same everywhere."""


@dataclass(slots=True)
class Sown:
    """What there is now; ``new`` holds the tasks made by this call, by the name of their template."""

    people: dict[str, User] = field(default_factory=dict)
    pools: dict[str, Pool] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    new: dict[str, CreatedTask] = field(default_factory=dict)


def sow(credentials: Path | None, *, with_agents: bool = True) -> Sown:
    """Make what is missing of the demo; ``with_agents`` says whether workers run the demo's agents."""
    known = _known(credentials)
    sown = Sown()
    _people(sown, known)
    _pools(sown)
    _agents(sown, with_agents)
    _repository()
    _tasks(sown)
    _claims(sown, with_agents)
    if credentials is not None:
        _write(credentials, {"users": known["users"], "tokens": _tokens(sown, known["tokens"])})
    return sown


def _people(sown: Sown, known: Mapping[str, Any]) -> None:
    for role, (name, first, last, _) in PEOPLE.items():
        person, is_new = get_user_model().objects.get_or_create(
            username=name, defaults={"first_name": first, "last_name": last}
        )
        told = known["users"].get(role)
        if is_new or told is None:
            told = told or {"name": name, "password": _password()}
            person.set_password(told["password"])
            person.save(update_fields=["password"])
        known["users"][role] = told
        sown.people[role] = person


def _pools(sown: Sown) -> None:
    sown.pools["billing"] = founding.found_pool(
        "billing", title="Billing page", ttl_seconds=120, reclaim_policy=ReclaimPolicy.MANUAL.value
    )
    sown.pools["sandbox"] = founding.found_pool(
        "sandbox",
        title="For trying the API",
        ttl_seconds=120,
        reclaim_policy=ReclaimPolicy.AUTO.value,
        allows_unreviewed=True,
    )
    for pool in sown.pools.values():
        founding.give_rights(pool, {sown.people[role]: right for role, (_, _, _, right) in PEOPLE.items()})


def _agents(sown: Sown, with_agents: bool) -> None:
    """Agents get the label `browser` only where there is a browser; else tasks that need one stay OPEN."""
    for name, owner in OWNERS.items():
        labels = {"python"} | (
            {"browser"} if settings.FENCEPOST_CHROMIUM and name in PHOTOGRAPHERS else set()
        )
        sown.agents[name] = founding.found_agent(name, sown.people[owner], labels, sown.pools.values())
    _profile(sown, "careful", "billing", with_agents, repository="billing", concurrency=2)
    _profile(sown, "careless", "billing", with_agents, repository="billing")
    _profile(sown, "careful", "sandbox", with_agents, takes_new_work=False, concurrency=3)


def _profile(sown: Sown, agent: str, pool: str, with_agents: bool, **columns: object) -> None:
    command = [sys.executable, "-B", str(DEMO / "workers" / f"{agent}.py")]
    values = {
        "command": command,
        "environment": {"FENCEPOST_DEMO_PACE": PACE_SECONDS, "PYTHONDONTWRITEBYTECODE": "1"},
        "time_limit_seconds": 300,
        "is_enabled": with_agents,
        **columns,
    }
    AgentProfile.objects.update_or_create(agent=sown.agents[agent], pool=sown.pools[pool], defaults=values)


def _repository() -> None:
    """The demo's files as a git repository with one commit; one that is there is left alone."""
    target = Path(settings.FENCEPOST_REPOSITORIES) / "billing"
    if (target / ".git").exists():
        return
    draft = target.with_name("billing.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copytree(DEMO / "repository", draft, ignore=shutil.ignore_patterns("__pycache__", "build"))
    dates = {"GIT_AUTHOR_DATE": BEGAN, "GIT_COMMITTER_DATE": BEGAN}
    git(draft, "init", "--quiet", "--initial-branch", "main")
    git(draft, "add", "--all")
    git(draft, "commit", "--quiet", "--message", "The billing pages", environment=dates)
    shutil.rmtree(target, ignore_errors=True)
    draft.rename(target)


def _tasks(sown: Sown) -> None:
    """Each template once, known again by its name as the task's node id."""
    by_pool: dict[str, dict[str, Template]] = {}
    for path in sorted((DEMO / "tasks").glob("*.yaml")):
        template = load_template(path.read_text(encoding="utf-8"))
        pool = sown.pools[template.pool]
        if not Task.objects.filter(pool=pool, node_id=path.stem).exists():
            by_pool.setdefault(template.pool, {})[path.stem] = template
    for name, templates in by_pool.items():
        caller = _as(sown.people["preparer"])
        wanted = [
            replace(each.task, node_id=stem, reviewer=_reviewer(sown, each.task.reviewer))
            for stem, each in templates.items()
        ]
        made = transitions.create(caller, name, wanted)
        if not isinstance(made, Created):
            raise RuntimeError(f"the demo's tasks were not made: {made.sentence} {' '.join(made.reasons)}")
        sown.new |= {task.node_id: task for task in made.tasks}


def _reviewer(sown: Sown, role: str | None) -> str | None:
    """Templates name the reviewer by role."""
    return sown.people[role].username if role in sown.people else role


def _claims(sown: Sown, with_agents: bool) -> None:
    """The sleeper's claim, and the sandbox's first tasks for the workers: before anybody else can have them."""
    task = sown.new.get(SLEEPERS_TASK)
    if task is not None:
        _claim(sown, "sleeper", "billing", task, Source.COMMAND, SLEEPERS_TTL_SECONDS)
    if not with_agents:
        return
    for stem, task in sown.new.items():
        if stem.startswith("sandbox-"):
            _claim(sown, "careful", "sandbox", task, Source.WORKER, None)


def _claim(
    sown: Sown, agent: str, pool: str, task: CreatedTask, source: Source, ttl_seconds: int | None
) -> None:
    who = sown.agents[agent]
    caller = Caller(Actor(ActorKind.AGENT, who.id, who.name), source)
    granted: Granted | Refused = transitions.claim(
        caller, task.task_id, task.state_version, sown.pools[pool].scheduler_epoch, ttl_seconds
    )
    if isinstance(granted, Refused):
        raise RuntimeError(f"T-{task.number} was not claimed for {agent}: {granted.sentence}")


def _tokens(sown: Sown, known: Mapping[str, str]) -> dict[str, str]:
    """The tokens of the file that still hold, and new ones in place of the others."""
    kept: dict[str, str] = {}
    for name, agent in sown.agents.items():
        kept[name] = _holding(known.get(name)) or tokens.mint(agent_id=agent.id, name="demo").token
    preparer = sown.people["preparer"]
    kept["preparer"] = (
        _holding(known.get("preparer")) or tokens.mint(person_id=preparer.id, name="demo").token
    )
    return kept


def _holding(token: str | None) -> str | None:
    return token if token and tokens.recognise(token) else None


def _as(person: User) -> Caller:
    return Caller(Actor(ActorKind.PERSON, person.pk, person.username), Source.COMMAND)


def _password() -> str:
    """Easy to read out, and said to be the demo's own."""
    return f"demo-{secrets.token_hex(3)}-{secrets.token_hex(3)}"


def _known(credentials: Path | None) -> dict[str, Any]:
    """What the credentials file says already; nothing when it is not there or not one."""
    try:
        body = json.loads(credentials.read_text()) if credentials else {}
    except (OSError, ValueError):
        body = {}
    users, kept = (body.get("users"), body.get("tokens")) if isinstance(body, dict) else ({}, {})
    return {"users": users or {}, "tokens": kept or {}}


def _write(credentials: Path, body: Mapping[str, Any]) -> None:
    """Write the file for its owner alone, in one step."""
    credentials.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = credentials.with_name(f"{credentials.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(body, file, indent=2)
    draft.replace(credentials)
