"""The history of every task, refusals, and idempotency keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Func

from claims.models.columns import loose, whole, word
from claims.models.triggers import append_only
from claims.vocabulary import ActorKind, Source, State

if TYPE_CHECKING:
    _IntegerField = models.Field[int, int]
else:
    _IntegerField = models.Field


class TransactionId(_IntegerField):
    """PostgreSQL's ``xid8``: the full id of the transaction that wrote the row."""

    def db_type(self, connection: Any) -> str:
        return "xid8"


class CurrentTransaction(Func):
    """``pg_current_xact_id()``."""

    function = "pg_current_xact_id"
    output_field = TransactionId()


class History(models.Model):
    """One row for each change of a task, in the change's own transaction; also the outbox.

    Each row's ``hash`` is the SHA-256 of the row before it and of its own canonical JSON
    (``kernel.chain``). ``validated`` is what a fence was compared with, as the comparison wrote
    it: epoch, claim generation and cancel generation. Consumers read rows whose ``transaction_id`` is below every running
    transaction's, so that none is skipped.
    """

    id = models.BigAutoField(primary_key=True)
    task = loose("claims.Task")
    pool = loose("claims.Pool")
    state_version = models.BigIntegerField()
    verb = models.CharField(max_length=20)
    from_state = word(State, null=True)
    to_state = word(State)
    claim_generation = models.BigIntegerField()
    attempt_id = models.UUIDField(null=True)
    actor_kind = word(ActorKind)
    actor_id = models.IntegerField()
    actor_name = models.CharField(max_length=200)
    source = word(Source)
    request_id = models.CharField(max_length=80)
    at = models.DateTimeField()
    body = models.JSONField(default=dict)
    validated = models.CharField(max_length=70, null=True)  # noqa: DJ001 - none where no fence is presented
    hash = models.BinaryField(max_length=32)
    transaction_id = TransactionId(db_default=CurrentTransaction())

    class Meta:
        indexes = [models.Index(fields=["pool", "id"], name="history_feed")]
        constraints = [
            models.UniqueConstraint(fields=["task", "state_version"], name="history_one_a_version"),
            whole("history", "actor_kind", "source", "verb", "validated"),
        ]
        triggers = append_only("history")

    def __str__(self) -> str:
        return f"{self.task_id} v{self.state_version} {self.verb}"


class Refusal(models.Model):
    """A write that changed nothing: what was presented, what was current. Written on its own."""

    id = models.BigAutoField(primary_key=True)
    pool = loose("claims.Pool", null=True)
    task = loose("claims.Task", null=True)
    attempt_id = models.UUIDField(null=True)
    verb = models.CharField(max_length=20)
    why = models.CharField(max_length=40)
    detail = models.TextField(blank=True, default="")
    presented = models.JSONField(default=dict)
    current = models.JSONField(default=dict)
    actor_kind = word(ActorKind)
    actor_id = models.IntegerField()
    actor_name = models.CharField(max_length=200)
    source = word(Source)
    request_id = models.CharField(max_length=80)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["task", "id"], name="refusal_of_task"),
            models.Index(fields=["at"], name="refusal_by_age"),
        ]
        triggers = append_only("a refusal")

    def __str__(self) -> str:
        return f"{self.verb} refused: {self.why}"


class IdempotencyKey(models.Model):
    """A key that was used, and the answer it has for 24 h; written with the change itself."""

    id = models.BigAutoField(primary_key=True)
    holder = models.CharField(max_length=40)
    key = models.CharField(max_length=255)
    verb = models.CharField(max_length=20)
    request_digest = models.CharField(max_length=71)
    answer = models.JSONField()
    used_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["used_at"], name="idempotency_key_by_age")]
        constraints = [models.UniqueConstraint(fields=["holder", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return f"{self.holder} {self.key}"
