"""Making what verbs need to be there: pools, rights of people, and agents in pools.

Promises: each function is idempotent; called again with the same names it changes nothing but
what it was asked to. These are an administrator's acts on the server, not transitions: none of
them touches a task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.contrib.auth.models import User
from django.db import connection

from claims.models import Agent, AgentPool, Membership, Pool
from claims.vocabulary import Right


def found_pool(name: str, **policies: object) -> Pool:
    """The pool of this name; a new one has the next scheduler epoch of all pools.

    ``policies`` are columns of ``Pool`` and count for a new pool only.
    """
    known = Pool.objects.filter(name=name).first()
    if known is not None:
        return known
    return Pool.objects.create(name=name, scheduler_epoch=_next_epoch(), **policies)


def give_rights(pool: Pool, rights: Mapping[User, Right]) -> None:
    """Give each person a right in the pool, beside those already held."""
    for person, right in rights.items():
        Membership.objects.get_or_create(pool=pool, person=person, right=right.value)


def found_agent(name: str, owner: User, labels: Iterable[str], pools: Iterable[Pool]) -> Agent:
    """The agent of this name, working in the pools. Its labels become the given ones."""
    wanted = sorted(labels)
    agent, _ = Agent.objects.get_or_create(name=name, defaults={"owner": owner, "labels": wanted})
    if agent.labels != wanted:
        Agent.objects.filter(id=agent.id).update(labels=wanted)
        agent.labels = wanted
    for pool in pools:
        AgentPool.objects.get_or_create(agent=agent, pool=pool)
    return agent


def _next_epoch() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('claims_scheduler_epoch')")
        return int(cursor.fetchone()[0])
