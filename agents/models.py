"""How workers of this server run an agent, and which of its attempts they are running.

Nothing here gives authority: that is the fence alone. Losing these rows loses no task; a run is
only the answer to "which process works on this attempt now".
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class AgentProfile(models.Model):
    """How an agent's attempts in one pool are run: a command, a repository, and limits.

    ``command`` is an argument list, never a shell line. ``repository`` is a folder's name under
    FENCEPOST_REPOSITORIES, an absolute path or a git URL; empty for tasks that need none.
    ``takes_new_work``: workers claim for it; otherwise they run only what was claimed for them.
    ``memory_mb`` bounds the resident memory of the command and everything it started; 0: no bound.
    """

    agent = models.ForeignKey("claims.Agent", on_delete=models.CASCADE, related_name="profiles")
    pool = models.ForeignKey("claims.Pool", on_delete=models.CASCADE, related_name="profiles")
    command = ArrayField(models.CharField(max_length=1_000))
    environment = models.JSONField(default=dict, blank=True)
    repository = models.CharField(max_length=1_000, blank=True, default="")
    base_ref = models.CharField(max_length=200, blank=True, default="main")
    time_limit_seconds = models.IntegerField(default=900)
    memory_mb = models.IntegerField(default=2_048)
    output_bytes = models.BigIntegerField(default=8 * 1024 * 1024)
    concurrency = models.IntegerField(default=1)
    ttl_seconds = models.IntegerField(null=True, blank=True)
    takes_new_work = models.BooleanField(default=True)
    is_enabled = models.BooleanField(default=True)
    looked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "pool"], name="agent_profile_once"),
            models.CheckConstraint(
                condition=Q(
                    time_limit_seconds__gte=1,
                    memory_mb__gte=0,
                    output_bytes__gte=1_024,
                    concurrency__gte=1,
                    command__len__gte=1,
                ),
                name="agent_profile_has_limits",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent} in {self.pool}"


class AttemptRun(models.Model):
    """One attempt in the hands of the workers.

    ``run_token`` names the process that runs it now; whoever sets it by CAS runs the attempt, and
    whoever finds another one there stops. A run whose ``heartbeat_at`` is old may be taken over.
    ``head_commit`` is what the attempt left on its branch; a later round starts from it.
    """

    attempt_id = models.UUIDField(unique=True)
    profile = models.ForeignKey(AgentProfile, on_delete=models.CASCADE, related_name="runs")
    run_token = models.UUIDField(null=True)
    starts = models.IntegerField(default=0)
    host = models.CharField(max_length=200, blank=True, default="")
    sent_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=500, blank=True, default="")
    branch = models.CharField(max_length=200, blank=True, default="")
    base_commit = models.CharField(max_length=64, blank=True, default="")
    head_commit = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        indexes = [
            models.Index(fields=["sent_at"], condition=Q(ended_at__isnull=True), name="attempt_run_alive")
        ]

    def __str__(self) -> str:
        return f"run of {self.attempt_id}"
