"""Who runs an attempt now: a row, a token, and a heartbeat.

Promises: of any number of deliveries of the same message exactly one begins the run (a CAS on
the row); a run whose worker was lost is taken over after ``LOST_AFTER`` by another CAS; the one
that lost it finds out at its next heartbeat. All times are the database's. Two processes may
still overlap for a moment: what they write is judged by the fence, not by this.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID, uuid4

from django.db.models import F, Q
from django.db.models.functions import Now

from agents.models import AttemptRun

LOST_AFTER = timedelta(seconds=20)
"""Four heartbeats: a worker that says nothing for this long is taken for dead."""

HEARTBEAT_SECONDS = 5.0

SENT_AGAIN_AFTER = timedelta(seconds=30)
"""A message that nobody began is sent again; a duplicate costs one CAS that fails."""

FORGOTTEN_AFTER = timedelta(minutes=2)
"""After this long without a message or a heartbeat a run is looked at by the sweep."""

MOST_STARTS = 4
"""An attempt that took so many workers with it is failed instead of begun again."""


def _lost() -> Q:
    return Q(run_token=None) | Q(heartbeat_at__lt=Now() - LOST_AFTER)


def note_sent(attempt_id: UUID, profile_id: int) -> bool:
    """Whether a message for this attempt should be sent now; at most one caller is told so."""
    defaults = {"profile_id": profile_id, "sent_at": Now()}
    _, is_new = AttemptRun.objects.get_or_create(attempt_id=attempt_id, defaults=defaults)
    if is_new:
        return True
    waiting = Q(run_token=None, sent_at__lt=Now() - SENT_AGAIN_AFTER)
    lost = Q(heartbeat_at__lt=Now() - LOST_AFTER, sent_at__lt=Now() - LOST_AFTER)
    return (
        AttemptRun.objects.filter(waiting | lost, attempt_id=attempt_id, ended_at=None).update(sent_at=Now())
        == 1
    )


def is_known(attempt_id: UUID) -> bool:
    """Whether workers have, or had, this attempt."""
    return AttemptRun.objects.filter(attempt_id=attempt_id).exists()


def begin(attempt_id: UUID) -> AttemptRun | None:
    """Take the attempt's run; None when somebody else has it or it has ended."""
    token = uuid4()
    taken = AttemptRun.objects.filter(_lost(), attempt_id=attempt_id, ended_at=None).update(
        run_token=token,
        heartbeat_at=Now(),
        started_at=Now(),
        starts=F("starts") + 1,
        host=socket.gethostname()[:200],
    )
    return AttemptRun.objects.select_related("profile").get(attempt_id=attempt_id) if taken else None


def beat(run: AttemptRun) -> bool:
    """Say that the run is alive; false when another process has taken it over."""
    mine = AttemptRun.objects.filter(attempt_id=run.attempt_id, run_token=run.run_token, ended_at=None)
    return mine.update(heartbeat_at=Now()) == 1


def note_workspace(run: AttemptRun, branch: str, base_commit: str) -> None:
    """Keep where the work happens."""
    AttemptRun.objects.filter(attempt_id=run.attempt_id, run_token=run.run_token).update(
        branch=branch, base_commit=base_commit
    )


def note_commit(run: AttemptRun, head_commit: str) -> None:
    """Keep what the attempt left on its branch."""
    AttemptRun.objects.filter(attempt_id=run.attempt_id, run_token=run.run_token).update(
        head_commit=head_commit
    )


def end(run: AttemptRun, outcome: str) -> None:
    """The run is over and will not be begun again."""
    AttemptRun.objects.filter(attempt_id=run.attempt_id, run_token=run.run_token).update(
        ended_at=Now(), outcome=outcome[:500]
    )


def let_go(run: AttemptRun, outcome: str) -> None:
    """This process gives the run up while the attempt lives; another may begin it at once."""
    AttemptRun.objects.filter(attempt_id=run.attempt_id, run_token=run.run_token).update(
        run_token=None, outcome=outcome[:500]
    )


def before(attempt_id: UUID) -> AttemptRun | None:
    """The run of an earlier attempt, for its branch and commits."""
    return (
        AttemptRun.objects.filter(attempt_id=attempt_id)
        .exclude(head_commit="")
        .select_related("profile")
        .first()
    )


def end_forgotten(still_held: Callable[[UUID], bool]) -> int:
    """End runs that nobody goes on with because their attempt no longer holds its task; how many."""
    quiet = AttemptRun.objects.filter(_lost(), ended_at=None, sent_at__lt=Now() - FORGOTTEN_AFTER)
    forgotten = [
        attempt_id
        for attempt_id in quiet.values_list("attempt_id", flat=True)[:200]
        if not still_held(attempt_id)
    ]
    ended = AttemptRun.objects.filter(_lost(), attempt_id__in=forgotten, ended_at=None)
    return ended.update(ended_at=Now(), outcome="the attempt no longer holds its task")


def alive() -> list[tuple[UUID, int]]:
    """Attempt and start of every run that has not ended: their workspaces may still be needed."""
    return list(AttemptRun.objects.filter(ended_at=None).values_list("attempt_id", "starts"))
