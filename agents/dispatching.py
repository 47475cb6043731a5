"""What workers should be running, derived from PostgreSQL each time anew.

Promises: losing the broker, a message or a worker loses no work: an attempt that holds its task
and that nobody runs is sent again. Workers leave alone what an agent claimed for itself through
the API; theirs is what they claimed, and what a person gave to an agent of theirs.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import structlog
from django.db.models import Q
from django.db.models.functions import Now

from agents import runs
from agents.models import AgentProfile
from claims import transitions
from claims.callers import Actor, Caller
from claims.outcomes import Granted, Grants, Refused, Why
from claims.selectors.running import LiveAttempt, has_open_task, live_attempts, pool_standing
from claims.vocabulary import ActorKind, Source

log = structlog.get_logger(__name__)

LOOKS_APART = timedelta(seconds=1)


def dispatch() -> list[UUID]:
    """Claim for every profile with a free slot, at most one task each; the attempts to be sent to workers."""
    to_send: list[UUID] = []
    profiles = (
        AgentProfile.objects.filter(is_enabled=True, agent__is_disabled=False)
        .select_related("agent")
        .order_by("id")
    )
    for profile in profiles:
        if _may_look(profile):
            to_send += _of_profile(profile)
    return to_send


def _may_look(profile: AgentProfile) -> bool:
    """One dispatcher at a time looks at a profile, so that two do not fill the same slot."""
    due = Q(looked_at=None) | Q(looked_at__lt=Now() - LOOKS_APART)
    return AgentProfile.objects.filter(due, id=profile.id).update(looked_at=Now()) == 1


def _of_profile(profile: AgentProfile) -> list[UUID]:
    ours = [
        live.fence.attempt_id
        for live in live_attempts(profile.agent_id, profile.pool_id)
        if _is_ours(profile, live)
    ]
    if profile.takes_new_work and len(ours) < profile.concurrency:
        granted = _claim(profile)
        ours += [granted.fence.attempt_id] if granted else []
    return [attempt_id for attempt_id in ours if runs.note_sent(attempt_id, profile.id)]


def _is_ours(profile: AgentProfile, live: LiveAttempt) -> bool:
    """Whether workers run this attempt, and not somebody with the agent's token."""
    if live.granted_by_worker or runs.is_known(live.fence.attempt_id):
        return True
    if live.after is not None:
        return runs.is_known(live.after)
    return profile.takes_new_work and live.granted_by_person


def _claim(profile: AgentProfile) -> Granted | None:
    """One claim for the profile's agent; an answer that was lost is asked for again with its key."""
    if not has_open_task(profile.pool_id):
        return None
    pool, epoch, is_open = pool_standing(profile.pool_id)
    if not is_open:
        return None
    agent = profile.agent
    caller = Caller(Actor(ActorKind.AGENT, agent.id, agent.name), Source.WORKER, key=f"dispatch-{uuid4()}")
    answer: Grants | Refused = Refused(Why.OUTCOME_UNKNOWN)
    for _ in range(3):
        answer = transitions.claim_next(caller, pool, epoch, 1, profile.ttl_seconds)
        if not isinstance(answer, Refused) or answer.why not in (
            Why.OUTCOME_UNKNOWN,
            Why.IN_PROGRESS,
            Why.BUSY,
        ):
            break
    if isinstance(answer, Refused):
        log.info("dispatch_refused", agent=agent.name, pool=pool, why=answer.why.value)
        return None
    return answer.grants[0] if answer.grants else None
