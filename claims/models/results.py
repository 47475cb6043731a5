"""Evidence, staged results, deliveries, decisions and canonical commits."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from claims.models.columns import loose, new_id, one_of, word
from claims.models.triggers import append_only, never_deleted, refuse_when
from claims.vocabulary import DecisionKind, DeliveryState


class Blob(models.Model):
    """Bytes kept once, under their SHA-256 (bare hex) in the evidence storage."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size = models.BigIntegerField()
    kept_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.sha256


class EvidenceFile(models.Model):
    """One attempt has these bytes as evidence."""

    attempt_id = models.UUIDField()
    task = loose("claims.Task")
    sha256 = models.CharField(max_length=64, db_index=True)
    size = models.BigIntegerField()
    media_type = models.CharField(max_length=200)
    late = models.BooleanField(default=False)
    validated = models.CharField(max_length=70, null=True)  # noqa: DJ001 - none where the fence was lost
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt_id", "sha256"], name="evidence_file_once"),
            models.CheckConstraint(
                condition=Q(late=True) | Q(validated__isnull=False), name="evidence_was_validated"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.sha256[:12]} of {self.attempt_id}"


class StagedResult(models.Model):
    """A result and its manifest, staged by one attempt. ``late``: the fence was lost; never canonical."""

    pk = models.CompositePrimaryKey("attempt_id", "position")
    attempt_id = models.UUIDField()
    position = models.IntegerField()
    task = loose("claims.Task")
    result_digest = models.CharField(max_length=71)
    result = models.JSONField()
    evidence = models.JSONField()
    late = models.BooleanField(default=False)
    validated = models.CharField(max_length=70, null=True)  # noqa: DJ001 - none where the fence was lost
    staged_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(late=True) | Q(validated__isnull=False), name="staged_was_validated"
            )
        ]
        triggers = append_only("a staged result")

    def __str__(self) -> str:
        return self.result_digest


class Delivery(models.Model):
    """A staged result handed in for review. ``makers`` are the owners who may not decide.

    ``facts`` is what the server established about the evidence, apart from what the agent says.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task = loose("claims.Task")
    pool = loose("claims.Pool")
    attempt_id = models.UUIDField(unique=True)
    agent = loose("claims.Agent")
    makers = ArrayField(models.IntegerField())
    round = models.IntegerField()
    state = word(DeliveryState, default=DeliveryState.PENDING)
    input_digest = models.CharField(max_length=71)
    result_digest = models.CharField(max_length=71)
    subject_digest = models.CharField(max_length=71)
    claim_generation = models.BigIntegerField()
    scheduler_epoch = models.BigIntegerField()
    cancel_generation = models.BigIntegerField()
    summary = models.TextField(blank=True, default="")
    needs = models.CharField(max_length=140, blank=True, default="")
    claims = models.JSONField(default=dict)
    facts = models.JSONField(default=dict)
    delivered_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["pool", "delivered_at"], condition=Q(state="PENDING"), name="delivery_pending"
            ),
            models.Index(
                fields=["task", "round"], condition=Q(state="CHANGES_REQUESTED"), name="delivery_sent_back"
            ),
        ]
        constraints = [
            one_of("state", DeliveryState),
            models.UniqueConstraint(fields=["task", "round"], name="delivery_round_once"),
            models.UniqueConstraint(
                fields=["task"], condition=Q(state="PENDING"), name="delivery_one_pending"
            ),
        ]
        triggers = [
            refuse_when(
                "subject_is_fixed",
                "(NEW.task_id, NEW.attempt_id, NEW.round, NEW.input_digest, NEW.result_digest, NEW.subject_digest, NEW.claim_generation, NEW.scheduler_epoch, NEW.makers)"
                " IS DISTINCT FROM "
                "(OLD.task_id, OLD.attempt_id, OLD.round, OLD.input_digest, OLD.result_digest, OLD.subject_digest, OLD.claim_generation, OLD.scheduler_epoch, OLD.makers)",
                "what was delivered is fixed (claim.v1 section 1)",
            ),
            refuse_when(
                "decided_once",
                "OLD.state <> 'PENDING' AND NEW.state <> OLD.state",
                "a delivery is decided once (claim.v1 section 7)",
            ),
            never_deleted("a delivery"),
        ]

    def __str__(self) -> str:
        return f"round {self.round} of {self.task_id}"


class Decision(models.Model):
    """What a person decided on a delivery, and what was seen when deciding.

    ``marks`` says for ever what was out of the ordinary: ``STEPPED_IN``, ``DEPUTY``,
    ``SELF_REVIEW``, ``SCOPE_VIOLATION``. ``makers`` are the owners of the evidence at the
    grant and at the decision.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    delivery = models.OneToOneField(Delivery, on_delete=models.PROTECT, related_name="decision")
    kind = word(DecisionKind)
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions")
    subject_digest = models.CharField(max_length=71)
    verdicts = models.JSONField(default=dict)
    comments = models.JSONField(default=list)
    note = models.TextField(blank=True, default="")
    reason = models.TextField(blank=True, default="")
    marks = ArrayField(models.CharField(max_length=40), default=list)
    makers = ArrayField(models.IntegerField(), default=list)
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [one_of("kind", DecisionKind)]
        indexes = [models.Index(fields=["decided_at"], name="decision_newest")]
        triggers = append_only("a decision")

    def __str__(self) -> str:
        return f"{self.kind} by {self.reviewer}"


class CanonicalCommit(models.Model):
    """The one accepted result of a task. ``reviewer`` is empty where no review was asked for.

    It was made for the task's pinned input digest, which never changes (section 7, invariant 6).
    """

    task = models.OneToOneField(
        "claims.Task", on_delete=models.DO_NOTHING, primary_key=True, db_constraint=False, related_name="+"
    )
    commit_id = models.UUIDField(default=new_id, editable=False)
    attempt_id = models.UUIDField()
    delivery = models.ForeignKey(
        Delivery, on_delete=models.PROTECT, null=True, db_index=False, related_name="+"
    )
    claim_generation = models.BigIntegerField()
    scheduler_epoch = models.BigIntegerField()
    cancel_generation = models.BigIntegerField()
    result_digest = models.CharField(max_length=71)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, db_index=False, related_name="+"
    )
    committed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["delivery"],
                condition=Q(delivery__isnull=False),
                name="canonical_commit_of_a_delivery_once",
            )
        ]
        triggers = append_only("a canonical commit")

    def __str__(self) -> str:
        return f"commit of {self.task_id}"
