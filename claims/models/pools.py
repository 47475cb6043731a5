"""Pools: the domain that schedules and isolates work."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from claims.models.columns import one_of, word
from claims.models.triggers import never_deleted, refuse_when
from claims.vocabulary import Gate, ReclaimPolicy, SelfReview


class Pool(models.Model):
    """Members, policies, one scheduler epoch and one gate. Written rarely, read in every verb.

    A task that failed or lapsed waits ``backoff_seconds``, doubled with every attempt, before
    it may be claimed again; never longer than ``max_backoff_seconds``.
    """

    name = models.CharField(max_length=120, unique=True)
    title = models.CharField(max_length=200, blank=True, default="")
    scheduler_epoch = models.BigIntegerField()
    gate = word(Gate, default=Gate.OPEN)
    reclaim_policy = word(ReclaimPolicy, default=ReclaimPolicy.MANUAL)
    self_review = word(SelfReview, default=SelfReview.REFUSED)
    allows_unreviewed = models.BooleanField(default=False)
    ttl_seconds = models.IntegerField(default=300)
    max_ttl_seconds = models.IntegerField(default=3_600)
    window_seconds = models.IntegerField(default=6 * 3_600)
    max_attempts = models.IntegerField(default=3)
    backoff_seconds = models.IntegerField(default=5)
    max_backoff_seconds = models.IntegerField(default=900)
    late_evidence_days = models.IntegerField(default=30)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            one_of("gate", Gate),
            one_of("reclaim_policy", ReclaimPolicy),
            one_of("self_review", SelfReview),
            models.CheckConstraint(
                condition=Q(
                    ttl_seconds__gte=1,
                    ttl_seconds__lte=F("max_ttl_seconds"),
                    max_ttl_seconds__lte=F("window_seconds"),
                ),
                name="pool_ttl_fits_the_window",
            ),
            models.CheckConstraint(condition=Q(max_attempts__gte=1), name="pool_has_attempts"),
            models.CheckConstraint(
                condition=Q(backoff_seconds__gte=0, backoff_seconds__lte=F("max_backoff_seconds")),
                name="pool_backs_off_within_bounds",
            ),
        ]
        triggers = [
            refuse_when(
                "epoch_never_falls",
                "NEW.scheduler_epoch < OLD.scheduler_epoch",
                "the scheduler epoch never falls (claim.v1 section 1)",
            ),
            refuse_when(
                "name_is_fixed",
                "NEW.name <> OLD.name",
                "the name of a pool is fixed; change its title instead",
            ),
            never_deleted("a pool"),
        ]

    def __str__(self) -> str:
        return self.name
