"""The ledger of outside effects: what is to be done once, who may do it, and what was seen of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from claims.models.columns import loose, new_id, one_of, word
from claims.models.triggers import append_only, never_deleted, refuse_new_when, refuse_when
from claims.vocabulary import (
    SETTLED,
    ActorKind,
    ApprovalState,
    EffectMode,
    EffectState,
    Said,
    Via,
)

_IN_DOUBT = [EffectState.EXECUTING, EffectState.UNKNOWN]
_SETTLED_WORDS = ", ".join(f"'{state}'" for state in sorted(SETTLED))


class Effect(models.Model):
    """One outside side effect. ``id`` is its effectId: neither attempt nor payload enters it.

    ``has_happened``: an observation HAPPENED stands. ``doubts`` counts how often it became
    UNKNOWN, ``permits`` how many were handed out. ``version`` rises with every change.
    """

    id = models.CharField(max_length=64, primary_key=True)
    task = loose("claims.Task", db_index=True)
    pool = loose("claims.Pool")
    lineage_id = models.UUIDField(db_index=True)
    slot = models.CharField(max_length=120)
    mode = word(EffectMode)
    target = models.CharField(max_length=500)
    serial_key = models.CharField(max_length=500)
    is_required = models.BooleanField()
    permit_seconds = models.IntegerField()
    settle_seconds = models.IntegerField()
    payload_digest = models.CharField(max_length=71)
    payload = models.JSONField()
    prepared_by = models.UUIDField()
    prepared_at = models.DateTimeField()
    state = word(EffectState)
    state_since = models.DateTimeField()
    version = models.IntegerField(default=1)
    permit_id = models.UUIDField(null=True)
    permits = models.IntegerField(default=0)
    doubts = models.IntegerField(default=0)
    has_happened = models.BooleanField(default=False)
    resource_etag = models.CharField(max_length=200, blank=True, default="")
    receipt = models.JSONField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["pool", "state"], condition=Q(state__in=_IN_DOUBT), name="effect_in_doubt"),
            models.Index(
                fields=["pool", "mode"], condition=Q(state=EffectState.PREPARED), name="effect_prepared"
            ),
        ]
        constraints = [
            one_of("mode", EffectMode),
            one_of("state", EffectState),
            models.UniqueConstraint(fields=["task", "slot"], name="effect_one_a_slot"),
            models.UniqueConstraint(
                fields=["pool", "serial_key"],
                condition=Q(mode=EffectMode.NON_REPLAYABLE, state__in=_IN_DOUBT),
                name="effect_one_serial",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=_IN_DOUBT) | Q(permit_id__isnull=False),
                name="effect_in_doubt_had_a_permit",
            ),
        ]
        triggers = [
            refuse_when(
                "payload_is_bound",
                "(NEW.id, NEW.task_id, NEW.lineage_id, NEW.slot, NEW.mode, NEW.target, NEW.serial_key, NEW.is_required, NEW.payload_digest, NEW.payload)"
                " IS DISTINCT FROM "
                "(OLD.id, OLD.task_id, OLD.lineage_id, OLD.slot, OLD.mode, OLD.target, OLD.serial_key, OLD.is_required, OLD.payload_digest, OLD.payload)",
                "an effect keeps the slot and the payload it was prepared with (claim.v1 section 5)",
                is_locked=True,
            ),
            refuse_when(
                "settled_stays_settled",
                f"OLD.state IN ({_SETTLED_WORDS}) AND NEW.state <> OLD.state",
                "a settled effect stays as it is (claim.v1 section 5)",
                is_locked=True,
            ),
            refuse_when(
                "no_effect_from_nowhere",
                "NEW.version <> OLD.version + 1 OR NEW.permits < OLD.permits OR NEW.doubts < OLD.doubts"
                " OR (NEW.state = 'EXECUTING' AND OLD.state <> 'EXECUTING'"
                " AND (OLD.state <> 'PREPARED' OR NEW.permits <> OLD.permits + 1 OR OLD.has_happened))"
                " OR (NEW.state = 'ABANDONED' AND OLD.state NOT IN ('PREPARED', 'ABANDONED'))"
                " OR (NEW.state = 'WRITTEN_OFF' AND OLD.state NOT IN ('EXECUTING', 'UNKNOWN', 'WRITTEN_OFF'))",
                "an effect moves along its arrows only, and is executed with a permit of its own (claim.v1 section 5)",
                is_locked=True,
            ),
            never_deleted("an effect"),
        ]

    def __str__(self) -> str:
        return f"{self.slot} of {self.task_id}"


class Permit(models.Model):
    """The right to make one outside call for one effect, until ``deadline``. Committed before the call.

    ``key`` is the idempotency key of the execute that made it; it never makes another.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="all_permits")
    task = loose("claims.Task")
    attempt_id = models.UUIDField()
    agent = loose("claims.Agent")
    number = models.IntegerField()
    key = models.CharField(max_length=255)
    mode = word(EffectMode)
    approval_id = models.UUIDField(null=True)
    claim_generation = models.BigIntegerField()
    scheduler_epoch = models.BigIntegerField()
    cancel_generation = models.BigIntegerField()
    granted_at = models.DateTimeField()
    deadline = models.DateTimeField()

    class Meta:
        constraints = [
            one_of("mode", EffectMode),
            models.UniqueConstraint(fields=["effect", "number"], name="permit_one_a_number"),
            models.UniqueConstraint(fields=["effect", "agent", "key"], name="permit_one_a_key"),
            models.UniqueConstraint(
                fields=["approval_id"], condition=Q(approval_id__isnull=False), name="permit_one_an_approval"
            ),
            models.CheckConstraint(
                condition=~Q(mode=EffectMode.NON_REPLAYABLE) | Q(approval_id__isnull=False),
                name="permit_not_replayable_is_approved",
            ),
        ]
        triggers = [
            *append_only("a permit"),
            refuse_new_when(
                "first_one_did_not_happen",
                "NEW.number > 1 AND NOT EXISTS (SELECT 1 FROM claims_permit p JOIN claims_observation o ON o.permit_id = p.id"
                " WHERE p.effect_id = NEW.effect_id AND p.number = NEW.number - 1 AND o.said = 'DID_NOT_HAPPEN'"
                " AND o.is_applied AND o.at >= p.deadline)",
                "between two permits stands a recorded DID_NOT_HAPPEN after the deadline of the first (claim.v1 section 7)",
            ),
        ]

    def __str__(self) -> str:
        return f"permit {self.number} of {self.effect_id[:12]}"


class Approval(models.Model):
    """A person's answer about a NON_REPLAYABLE effect, bound to all that the person saw.

    ``doubt`` is how often the effect had been UNKNOWN when the person looked.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="approvals")
    task = loose("claims.Task", db_index=True)
    state = word(ApprovalState)
    payload_digest = models.CharField(max_length=71)
    claim_generation = models.BigIntegerField()
    scheduler_epoch = models.BigIntegerField()
    doubt = models.IntegerField()
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    note = models.CharField(max_length=2_000, blank=True, default="")
    at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            one_of("state", ApprovalState),
            models.UniqueConstraint(
                fields=["effect"], condition=Q(state=ApprovalState.GRANTED), name="approval_one_granted"
            ),
            models.CheckConstraint(
                condition=~Q(state=ApprovalState.GRANTED) | Q(expires_at__isnull=False),
                name="approval_expires",
            ),
        ]
        triggers = [
            refuse_when(
                "approval_is_bound",
                "(NEW.effect_id, NEW.payload_digest, NEW.claim_generation, NEW.scheduler_epoch, NEW.doubt, NEW.person_id, NEW.at, NEW.expires_at)"
                " IS DISTINCT FROM "
                "(OLD.effect_id, OLD.payload_digest, OLD.claim_generation, OLD.scheduler_epoch, OLD.doubt, OLD.person_id, OLD.at, OLD.expires_at)",
                "an approval keeps what it was given for (claim.v1 section 5)",
            ),
            refuse_when(
                "approval_ends_once",
                "OLD.state <> 'GRANTED' AND NEW.state <> OLD.state",
                "an approval is consumed, revoked or void once, and never given again (claim.v1 section 5)",
            ),
            never_deleted("an approval"),
        ]

    def __str__(self) -> str:
        return f"{self.state} by {self.person}"


class Observation(models.Model):
    """What somebody saw or said of an effect: how, when, and how strong it is. Never thrown away.

    ``is_applied``: it settled the effect. ``permit_id`` is the permit it speaks about.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="observations")
    task = loose("claims.Task")
    permit_id = models.UUIDField(null=True, db_index=True)
    attempt_id = models.UUIDField(null=True)
    said = word(Said)
    via = word(Via)
    look_up = models.CharField(max_length=20, blank=True, default="")
    is_strong = models.BooleanField()
    is_applied = models.BooleanField()
    etag = models.CharField(max_length=40, blank=True, default="")
    receipt = models.JSONField(null=True)
    note = models.CharField(max_length=2_000, blank=True, default="")
    actor_kind = word(ActorKind)
    actor_id = models.IntegerField()
    actor_name = models.CharField(max_length=200)
    at = models.DateTimeField()

    class Meta:
        constraints = [one_of("said", Said), one_of("via", Via), one_of("actor_kind", ActorKind)]
        triggers = append_only("an observation")

    def __str__(self) -> str:
        return f"{self.said} by {self.actor_name}"


class Acknowledgement(models.Model):
    """A preparer says of an effect of an earlier revision whether it counts or is to be done again."""

    task = loose("claims.Task")
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="acknowledgements")
    counts = models.BooleanField()
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=2_000, blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "effect"], name="acknowledgement_once_a_revision")
        ]
        triggers = append_only("an acknowledgement")

    def __str__(self) -> str:
        return f"{self.effect_id[:12]} {'counts' if self.counts else 'is to be done again'}"
