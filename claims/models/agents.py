"""Agents, the pools they work in, and tokens."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from claims.models.columns import one_of, word
from claims.vocabulary import TokenKind


class Agent(models.Model):
    """A machine identity that may hold a claim. ``owner`` answers for it."""

    name = models.CharField(max_length=120, unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="agents")
    labels = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    is_disabled = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class AgentPool(models.Model):
    """An agent may claim in this pool."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="agent_pools")
    pool = models.ForeignKey("claims.Pool", on_delete=models.CASCADE, related_name="agent_pools")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent", "pool"], name="agent_pool_once")]

    def __str__(self) -> str:
        return f"{self.agent} in {self.pool}"


class Token(models.Model):
    """A bearer token ``fp_<prefix>_<secret>``; only the SHA-256 of the whole is stored."""

    kind = word(TokenKind)
    name = models.CharField(max_length=120, blank=True, default="")
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.BinaryField(max_length=32)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, blank=True, related_name="tokens")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="tokens"
    )
    attempt_id = models.UUIDField(null=True, blank=True)
    scopes = ArrayField(models.CharField(max_length=20), default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            one_of("kind", TokenKind),
            models.CheckConstraint(
                condition=Q(
                    kind=TokenKind.PERSON, agent__isnull=True, person__isnull=False, attempt_id__isnull=True
                )
                | Q(kind=TokenKind.AGENT, agent__isnull=False, person__isnull=True, attempt_id__isnull=True)
                | Q(
                    kind=TokenKind.ATTEMPT, agent__isnull=False, person__isnull=True, attempt_id__isnull=False
                ),
                name="token_has_one_holder",
            ),
        ]

    def __str__(self) -> str:
        return f"fp_{self.prefix}_…"
