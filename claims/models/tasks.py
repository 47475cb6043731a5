"""Tasks, their inputs, the leases on them and the attempts at them."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from claims.models.columns import loose, new_id, whole, word
from claims.models.triggers import append_only, guard, never_deleted
from claims.vocabulary import FINAL, AttemptOutcome, ReclaimPolicy, ReviewPolicy, State

_WORDS = ", ".join(f"'{state}'" for state in sorted(FINAL))


class Task(models.Model):
    """One unit of work. Only ``kernel`` writes it; what is long lives in ``TaskInput``.

    ``attempt`` is the attempt whose fence can write (CLAIMED) or be committed (DELIVERED).
    ``history_hash`` is the head of the task's hash chain. ``is_stale``: a predecessor's newer
    revision was committed after the task opened. ``preparer`` is the person who wrote it, if any.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    number = models.BigIntegerField()
    pool = models.ForeignKey("claims.Pool", on_delete=models.PROTECT, db_index=False, related_name="tasks")
    lineage_id = models.UUIDField()
    revision = models.IntegerField(default=1)
    node_id = models.CharField(max_length=120, blank=True, default="")
    title = models.CharField(max_length=300)
    input_digest = models.CharField(max_length=71, null=True)  # noqa: DJ001 - none until it is pinned
    access = ArrayField(models.CharField(max_length=120), default=list)
    priority = models.SmallIntegerField(default=2)
    not_before = models.DateTimeField(null=True)
    ttl_seconds = models.IntegerField()
    max_attempts = models.IntegerField()
    review_policy = word(ReviewPolicy)
    reclaim_policy = word(ReclaimPolicy)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, db_index=False, related_name="+"
    )
    reviewer_group = models.ForeignKey(
        "claims.ReviewerGroup", on_delete=models.PROTECT, null=True, db_index=False, related_name="+"
    )
    created_by = models.CharField(max_length=200)
    preparer = loose(settings.AUTH_USER_MODEL, null=True)
    declares_effects = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    cancel_generation = models.BigIntegerField(default=0)
    # What a change of state writes stands together at the end, so that the log holds only that.
    state = word(State)
    state_since = models.DateTimeField()
    state_version = models.BigIntegerField(default=1)
    claim_generation = models.BigIntegerField(default=0)
    attempts_used = models.IntegerField(default=0)
    rounds = models.IntegerField(default=0)
    reason = models.CharField(max_length=500, blank=True, default="")
    preferred_runner = loose("claims.Agent", null=True)
    runner = loose("claims.Agent", null=True)
    attempt = loose("claims.Attempt", null=True)
    delivery = loose("claims.Delivery", null=True)
    result_commit_id = models.UUIDField(null=True)
    is_stale = models.BooleanField(default=False)
    history_hash = models.BinaryField(max_length=32)

    class Meta:
        indexes = [
            models.Index(
                F("pool"), F("priority"), F("number"), condition=Q(state="OPEN"), name="task_claimable"
            ),
            models.Index(
                F("preferred_runner"),
                F("pool"),
                F("priority"),
                F("number"),
                condition=Q(state="OPEN", preferred_runner__isnull=False),
                name="task_preferred",
            ),
            models.Index(F("pool"), F("state"), F("state_since"), name="task_board"),
            models.Index(F("id"), condition=Q(state="BLOCKED"), name="task_blocked"),
        ]
        constraints = [
            whole(
                "task", "state", "review_policy", "reclaim_policy", "attempt", "runner", "delivery", "result_commit_id", "reason",
                "input_digest", "attempts_used", "max_attempts",
            )
        ]  # fmt: skip
        triggers = [
            guard(
                {
                    "a grant or a loss of authority raises the claim generation by one (claim.v1 section 2)": (
                        "NEW.attempt_id IS DISTINCT FROM OLD.attempt_id AND NEW.claim_generation <> OLD.claim_generation + 1"
                    ),
                    "a final state is never left (claim.v1 section 2)": (
                        f"NEW.state <> OLD.state AND OLD.state IN ({_WORDS}) AND NOT (OLD.state = 'CANCELLED' AND NEW.state = 'SUPERSEDED')"
                    ),
                    "the identity, the input digest and the canonical commit of a task are fixed (claim.v1 section 1)": (
                        "NEW.id <> OLD.id OR NEW.number <> OLD.number OR NEW.pool_id <> OLD.pool_id OR NEW.lineage_id <> OLD.lineage_id"
                        " OR NEW.revision <> OLD.revision OR (NEW.input_digest IS DISTINCT FROM OLD.input_digest AND OLD.input_digest IS NOT NULL)"
                        " OR (NEW.result_commit_id IS DISTINCT FROM OLD.result_commit_id AND OLD.result_commit_id IS NOT NULL)"
                    ),
                    "a claim or cancel generation never falls (claim.v1 section 1)": (
                        "NEW.claim_generation < OLD.claim_generation OR NEW.cancel_generation < OLD.cancel_generation"
                    ),
                    "every change of a task raises its state version by one and extends its history (claim.v1 section 3)": (
                        "NEW.state_version <> OLD.state_version + 1 OR NEW.history_hash = OLD.history_hash"
                    ),
                }
            ),
            never_deleted("a task"),
        ]

    def __str__(self) -> str:
        return f"T-{self.number}"


class TaskInput(models.Model):
    """The immutable side of a task, apart from the row that is updated.

    What must be unique and never changes has its index here, so that an update of the task
    need not write it again.
    """

    task = models.OneToOneField(
        Task, on_delete=models.PROTECT, primary_key=True, db_constraint=False, related_name="specification"
    )
    number = models.BigIntegerField(unique=True)
    lineage_id = models.UUIDField()
    revision = models.IntegerField(default=1)
    body = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lineage_id", "revision"], name="input_one_a_revision")
        ]
        indexes = [models.Index(fields=["lineage_id"], condition=Q(revision__gt=1), name="input_revised")]
        triggers = append_only("an input")

    def __str__(self) -> str:
        return f"input of {self.task_id}"


class Lease(models.Model):
    """How long a claim stands without renewal. Never indexed by expiry: renewals stay heap-only.

    One row for each CLAIMED task; ``window_ends_at`` is the absolute end of renewals.
    ``renewed_under`` is what the last renewal's fence was compared with.
    """

    task = models.OneToOneField(
        Task, on_delete=models.DO_NOTHING, primary_key=True, db_constraint=False, related_name="lease"
    )
    attempt_id = models.UUIDField()
    agent = loose("claims.Agent")
    claim_generation = models.BigIntegerField()
    window_ends_at = models.DateTimeField()
    # What a renewal writes stands together, without gaps, so that the log holds only that.
    expires_at = models.DateTimeField()
    renewed_at = models.DateTimeField(null=True)
    renewals = models.IntegerField(default=0)
    ttl_seconds = models.IntegerField()
    nudged_at = models.DateTimeField(null=True)
    extended_at = models.DateTimeField(null=True)
    renewed_under = models.CharField(max_length=70, null=True)  # noqa: DJ001 - none before a renewal

    class Meta:
        triggers = [
            guard(
                {
                    "a lease passes to a newer grant only (claim.v1 section 1)": (
                        "NEW.claim_generation < OLD.claim_generation"
                        " OR (NEW.attempt_id <> OLD.attempt_id AND NEW.claim_generation = OLD.claim_generation)"
                    ),
                    "a renewal is written with what its fence was compared with (claim.v1 section 1)": (
                        "NEW.renewals > OLD.renewals AND NEW.renewed_under IS NULL"
                    ),
                },
                is_locked=False,
            ),
        ]

    def __str__(self) -> str:
        return f"lease of {self.task_id} until {self.expires_at}"


class Attempt(models.Model):
    """One try by one runner, made by a grant. ``owner`` is the agent's owner at the grant."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task = loose("claims.Task")
    agent = loose("claims.Agent")
    owner = loose(settings.AUTH_USER_MODEL)
    claim_generation = models.BigIntegerField()
    scheduler_epoch = models.BigIntegerField()
    cancel_generation = models.BigIntegerField()
    is_counted = models.BooleanField(default=True)
    granted_version = models.BigIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = word(AttemptOutcome, null=True)
    note = models.CharField(max_length=2_000, blank=True, default="")
    noted_at = models.DateTimeField(null=True)
    noted_under = models.CharField(max_length=70, null=True)  # noqa: DJ001 - none before it says something
    cost = models.JSONField(null=True)
    adopted_from = models.UUIDField(null=True)

    class Meta:
        constraints = [
            whole("attempt", "outcome", "ended_at"),
            models.UniqueConstraint(fields=["task", "claim_generation"], name="attempt_one_a_generation"),
        ]
        triggers = [
            guard(
                {
                    "what an attempt was granted is fixed (claim.v1 section 1)": (
                        "NEW.id <> OLD.id OR NEW.task_id <> OLD.task_id OR NEW.agent_id <> OLD.agent_id OR NEW.owner_id <> OLD.owner_id"
                        " OR NEW.claim_generation <> OLD.claim_generation OR NEW.scheduler_epoch <> OLD.scheduler_epoch"
                        " OR NEW.cancel_generation <> OLD.cancel_generation"
                    ),
                    "an attempt ends once (claim.v1 section 2)": (
                        "OLD.outcome IS NOT NULL AND NEW.outcome IS DISTINCT FROM OLD.outcome"
                        " AND NOT (OLD.outcome = 'DELIVERED' AND NEW.outcome IN ('COMMITTED', 'FENCED', 'CANCELLED', 'SUPERSEDED'))"
                    ),
                    "progress is written with what its fence was compared with (claim.v1 section 1)": (
                        "NEW.noted_at IS DISTINCT FROM OLD.noted_at AND NEW.noted_under IS NULL"
                    ),
                },
                is_locked=False,
            ),
            never_deleted("an attempt"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.id}"
