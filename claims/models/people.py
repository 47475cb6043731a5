"""What persons may do in a pool."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from claims.models.columns import one_of, word
from claims.vocabulary import Right


class Membership(models.Model):
    """One right of one person in one pool; ``rights.IMPLIED`` says what it carries with it."""

    pool = models.ForeignKey("claims.Pool", on_delete=models.CASCADE, related_name="memberships")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    right = word(Right)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pool", "person", "right"], name="membership_once"),
            one_of("right", Right),
        ]

    def __str__(self) -> str:
        return f"{self.person} {self.right} in {self.pool}"


class ReviewerGroup(models.Model):
    """People of one pool who may decide in each other's place."""

    pool = models.ForeignKey("claims.Pool", on_delete=models.CASCADE, related_name="reviewer_groups")
    name = models.CharField(max_length=120)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="reviewer_groups")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool", "name"], name="reviewer_group_once")]

    def __str__(self) -> str:
        return self.name


class Deputy(models.Model):
    """Who decides in a person's place in one pool, from one day to another: UTC, both included."""

    pool = models.ForeignKey("claims.Pool", on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    deputy = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    from_day = models.DateField()
    until_day = models.DateField()
    named_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pool", "person"], name="deputy_once"),
            models.CheckConstraint(condition=~Q(person=F("deputy")), name="deputy_is_another"),
            models.CheckConstraint(condition=Q(until_day__gte=F("from_day")), name="deputy_has_days"),
        ]

    def __str__(self) -> str:
        return f"{self.deputy} for {self.person} in {self.pool}"
