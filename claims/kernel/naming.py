"""Which pool, task and attempt a call was about, read from its first argument."""

from __future__ import annotations

from uuid import UUID

from claims.fences import Fence
from claims.kernel.reading import pool_named, pool_of
from claims.models import Delivery, Effect


def named_by(args: tuple[object, ...]) -> dict[str, object]:
    """The columns of a refusal; empty when the call named nothing that exists."""
    subject = args[0] if args else None
    if isinstance(subject, Fence):
        pool_id = pool_of(subject.task_id)
        if pool_id is None:
            return {}
        return {
            "pool_id": pool_id,
            "task_id": subject.task_id,
            "attempt_id": subject.attempt_id,
            "presented": subject.as_json(),
        }
    if isinstance(subject, UUID):
        return _task_or_delivery(subject)
    return _effect_or_pool(subject) if isinstance(subject, str) else {}


def _effect_or_pool(subject: str) -> dict[str, object]:
    effect = Effect.objects.filter(id=subject).values("pool_id", "task_id").first()
    if effect is not None:
        return dict(effect)
    pool_id = pool_named(subject)
    return {"pool_id": pool_id} if pool_id is not None else {}


def _task_or_delivery(subject: UUID) -> dict[str, object]:
    pool_id = pool_of(subject)
    if pool_id is not None:
        return {"pool_id": pool_id, "task_id": subject}
    delivery = Delivery.objects.filter(id=subject).values("pool_id", "task_id", "attempt_id").first()
    return dict(delivery) if delivery else {}
