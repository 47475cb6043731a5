"""What a reviewer has typed and not sent: private to that person, gone when the decision is made.

Promises: nothing here decides anything; losing a row loses words, never authority. Columns only.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from claims.vocabulary import Verdict


def _delivery() -> models.ForeignKey[object, object]:
    """The delivery; without a constraint, so that typing never waits for a decision's lock."""
    return models.ForeignKey(
        "claims.Delivery", on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )


class PlaceKind(models.TextChoices):
    """What a comment is about: a file of the diff, a command's output, a screenshot."""

    FILE = "file"
    COMMAND = "command"
    SCREENSHOT = "screenshot"


def _kind() -> models.CharField[str, str]:
    return models.CharField(max_length=10, choices=PlaceKind.choices, default=PlaceKind.FILE)


class Draft(models.Model):
    """What one person has typed about one delivery as a whole, the comment being written included."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    delivery = _delivery()
    note = models.TextField(blank=True, default="")
    reason = models.TextField(blank=True, default="")
    comment = models.TextField(blank=True, default="")
    comment_kind = _kind()
    comment_path = models.CharField(max_length=1_000, blank=True, default="")
    comment_line = models.IntegerField(null=True, blank=True)
    comment_x = models.IntegerField(null=True, blank=True)
    comment_y = models.IntegerField(null=True, blank=True)
    typed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "delivery"], name="draft_once")]

    def __str__(self) -> str:
        return f"draft of {self.person_id} on {self.delivery_id}"


class VerdictDraft(models.Model):
    """One person's verdict on one criterion, and the note beside it. Empty verdict: still open."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    delivery = _delivery()
    criterion = models.IntegerField()
    verdict = models.CharField(max_length=20, blank=True, default="")
    note = models.TextField(blank=True, default="")
    typed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "delivery", "criterion"], name="verdict_draft_once"),
            models.CheckConstraint(
                condition=Q(verdict__in=["", *(word.value for word in Verdict)]),
                name="verdict_draft_is_a_word",
            ),
        ]

    def __str__(self) -> str:
        return f"criterion {self.criterion}: {self.verdict or 'open'}"


class CommentDraft(models.Model):
    """A comment that goes out with the decision.

    ``path`` is a path of the diff or the name of a piece of evidence, empty for the delivery as a
    whole. ``line`` is of the file's new side or of the output, empty for all of it. ``x`` and ``y``
    are thousandths of a picture's width and height.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    delivery = _delivery()
    kind = _kind()
    path = models.CharField(max_length=1_000, blank=True, default="")
    line = models.IntegerField(null=True, blank=True)
    x = models.IntegerField(null=True, blank=True)
    y = models.IntegerField(null=True, blank=True)
    text = models.TextField()
    typed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"comment on {self.path or 'the delivery'}"


class ViewedFile(models.Model):
    """A file of a delivery's diff that one person has looked at."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    delivery = _delivery()
    path = models.CharField(max_length=1_000)
    viewed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "delivery", "path"], name="viewed_file_once")
        ]

    def __str__(self) -> str:
        return f"{self.path} viewed"


class TaskDraft(models.Model):
    """A task that is being written. ``source`` is its YAML, ``base`` the text that form and YAML last agreed on.

    ``pending`` holds the form's fields while the YAML cannot be read. ``seat`` names the one page that may
    write; ``version`` rises with every save. ``published`` is the number of the task it became.
    """

    id = models.UUIDField(primary_key=True)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    title = models.CharField(max_length=200, blank=True, default="")
    source = models.TextField(blank=True, default="")
    base = models.TextField(blank=True, default="")
    pending = models.JSONField(blank=True, default=dict)
    seat = models.CharField(max_length=40, blank=True, default="")
    version = models.BigIntegerField(default=0)
    published = models.BigIntegerField(null=True, blank=True)
    typed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["person", "-typed_at"], name="task_draft_of_person")]

    def __str__(self) -> str:
        return f"draft {self.title or self.pk}"


class ImportedTemplate(models.Model):
    """A file that became a task: the same text for the same pool is not imported a second time.

    ``digest`` is the SHA-256 of the pool's name and the file's bytes, in hex.
    """

    pool_name = models.CharField(max_length=120)
    digest = models.CharField(max_length=64)
    number = models.BigIntegerField()
    imported_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pool_name", "digest"], name="imported_once")]

    def __str__(self) -> str:
        return f"T-{self.number} from {self.digest[:12]}"


class PinnedTask(models.Model):
    """A task that one person keeps at the top of their inbox, whatever its round."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    task = models.ForeignKey(
        "claims.Task", on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    pinned_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "task"], name="pinned_task_once")]

    def __str__(self) -> str:
        return f"{self.task_id} pinned"


class SnoozedDelivery(models.Model):
    """A delivery that one person put aside: until a moment, or, handed on, for good. A new round is another."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    delivery = _delivery()
    until = models.DateTimeField(null=True, blank=True)
    snoozed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "delivery"], name="snoozed_delivery_once")]

    def __str__(self) -> str:
        return f"{self.delivery_id} until {self.until or 'it comes back'}"
