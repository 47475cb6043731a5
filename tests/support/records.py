"""What the tables say of a task, as short values to compare."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from claims.models import History, Refusal, Task
from claims.outcomes import Refused, Why
from claims.selectors.chain import verify_chain
from claims.vocabulary import State


def task_row(task_id: UUID) -> Task:
    """The task now."""
    return Task.objects.get(id=task_id)


def verbs_of(task_id: UUID) -> list[str]:
    """The verbs in its history, oldest first."""
    return list(
        History.objects.filter(task_id=task_id).order_by("state_version").values_list("verb", flat=True)
    )


def why(answer: object) -> Why:
    """The reason of a refusal; fails on any other answer."""
    assert isinstance(answer, Refused), answer
    return answer.why


@contextmanager
def one_change(task_id: UUID, *, raises: int, to: State) -> Iterator[None]:
    """Exactly one history row, the generation raised by ``raises``, the task in ``to``, a whole chain."""
    before = task_row(task_id)
    rows = len(verbs_of(task_id))
    yield
    after = task_row(task_id)
    assert after.state == to
    assert after.state_version == before.state_version + 1
    assert after.claim_generation == before.claim_generation + raises
    assert len(verbs_of(task_id)) == rows + 1
    assert verify_chain(task_id) is None


@contextmanager
def no_change(task_id: UUID) -> Iterator[None]:
    """The task's row, its history and its lease are as they were."""
    before, rows = _everything(task_id), verbs_of(task_id)
    yield
    assert _everything(task_id) == before
    assert verbs_of(task_id) == rows


def refusals_of(task_id: UUID) -> list[tuple[str, str]]:
    """What was refused about a task, oldest first: verb and reason."""
    return list(Refusal.objects.filter(task_id=task_id).order_by("id").values_list("verb", "why"))


def _everything(task_id: UUID) -> list[dict[str, object]]:
    tasks = list(Task.objects.filter(id=task_id).values())
    leases = list(
        Task.objects.filter(id=task_id).values("lease__expires_at", "lease__attempt_id", "lease__renewals")
    )
    return [*tasks, *leases]
