"""What is kept beside the history of tasks: pools' own events, tool calls, and the canaries."""

from __future__ import annotations

from django.db import models

from claims.models.columns import loose, one_of, word
from claims.models.triggers import append_only
from claims.vocabulary import ActorKind, Source


class PoolEvent(models.Model):
    """A raised epoch or a moved gate: who, when, why, from what to what."""

    id = models.BigAutoField(primary_key=True)
    pool = models.ForeignKey("claims.Pool", on_delete=models.PROTECT, related_name="events")
    verb = models.CharField(max_length=20)
    before = models.CharField(max_length=40)
    after = models.CharField(max_length=40)
    reason = models.CharField(max_length=2_000)
    actor_kind = word(ActorKind)
    actor_id = models.IntegerField()
    actor_name = models.CharField(max_length=200)
    source = word(Source)
    request_id = models.CharField(max_length=80)
    at = models.DateTimeField()

    class Meta:
        constraints = [one_of("actor_kind", ActorKind), one_of("source", Source)]
        triggers = append_only("an event of a pool")

    def __str__(self) -> str:
        return f"{self.verb} {self.before} -> {self.after}"


class ToolAcceptance(models.Model):
    """A tool server asked before it acted, and the fence was current."""

    id = models.BigAutoField(primary_key=True)
    task = loose("claims.Task")
    attempt_id = models.UUIDField(db_index=True)
    agent = loose("claims.Agent")
    tool = models.CharField(max_length=120)
    args_digest = models.CharField(max_length=71)
    validated = models.CharField(max_length=70)
    at = models.DateTimeField()

    class Meta:
        triggers = append_only("a tool acceptance")

    def __str__(self) -> str:
        return f"{self.tool} for {self.attempt_id}"


class CanaryRun(models.Model):
    """A stale write was sent to an acceptance point on purpose, and how it was answered."""

    id = models.BigAutoField(primary_key=True)
    point = models.CharField(max_length=20)
    stale = models.CharField(max_length=20)
    answer = models.CharField(max_length=40)
    was_refused = models.BooleanField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        triggers = append_only("a run of a canary")

    def __str__(self) -> str:
        return f"{self.point} with a stale {self.stale}: {self.answer}"
