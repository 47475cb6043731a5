"""Switching an agent off, so that no grant to it can follow (claim.v1 section 4)."""

from __future__ import annotations

from django.db import connection, transaction

from claims.kernel.reading import AGENT_LOCK
from claims.models import Agent


def switch_off(agent_id: int) -> None:
    """Disable an agent under the exclusive side of the lock whose shared side every grant takes.

    When this returns, every grant it had is committed and none can follow.
    """
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", [AGENT_LOCK, agent_id])
        Agent.objects.filter(id=agent_id).update(is_disabled=True)
