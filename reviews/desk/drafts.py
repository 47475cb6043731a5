"""What a reviewer types, kept on the server word by word until it is sent, moved or discarded.

Promises: a field that a request does not carry stays as it is, so two tabs never blank each
other's words; nothing here decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from claims.vocabulary import Verdict
from reviews.models import CommentDraft, Draft, VerdictDraft, ViewedFile

FORM_WORDS = {"met": Verdict.MET, "not-met": Verdict.NOT_MET, "cannot-tell": Verdict.CANNOT_TELL}
"""How a form names a verdict."""
WORDS_OF = {verdict.value: word for word, verdict in FORM_WORDS.items()}
WHOLE_FIELDS = ("note", "reason", "comment")
PATH_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class Given:
    """A verdict as typed: ``word`` is empty while the criterion is open."""

    word: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Typed:
    """Everything one person has typed about one delivery."""

    verdicts: Mapping[int, Given] = field(default_factory=dict)
    note: str = ""
    reason: str = ""
    comment: str = ""
    comment_path: str = ""
    comment_line: int | None = None
    comments: Sequence[CommentDraft] = ()
    typed_at: datetime | None = None

    def given(self, criterion: int) -> Given:
        """What was typed about a criterion."""
        return self.verdicts.get(criterion, Given())

    @property
    def has_words(self) -> bool:
        """Whether there is anything to lose."""
        whole = self.note or self.reason or self.comment or self.comments
        return bool(whole or any(given.word or given.note for given in self.verdicts.values()))

    def as_comments(self) -> list[dict[str, object]]:
        """The comments that go out, the one still being written included."""
        rows = [(row.path, row.line, row.text) for row in self.comments]
        if self.comment.strip():
            rows.append((self.comment_path, self.comment_line, self.comment))
        return [{"path": path, "line": line, "text": text.strip()} for path, line, text in rows]


def typed(person_id: int, delivery_id: UUID) -> Typed:
    """What this person has typed about this delivery. Three queries."""
    of = {"person_id": person_id, "delivery_id": delivery_id}
    whole = Draft.objects.filter(**of).first()
    verdicts = {row.criterion: row for row in VerdictDraft.objects.filter(**of)}
    comments = list(CommentDraft.objects.filter(**of).order_by("pk"))
    times = [row.typed_at for row in (whole, *verdicts.values(), *comments) if row is not None]
    return Typed(
        {number: Given(WORDS_OF.get(row.verdict, ""), row.note) for number, row in verdicts.items()},
        whole.note if whole else "",
        whole.reason if whole else "",
        whole.comment if whole else "",
        whole.comment_path if whole else "",
        whole.comment_line if whole else None,
        comments,
        max(times, default=None),
    )


def save(person_id: int, delivery_id: UUID, criteria: int, posted: Mapping[str, str]) -> None:
    """Keep the fields that were posted. Up to four statements, none of them on the contract's tables."""
    now = timezone.now()
    of = {"person_id": person_id, "delivery_id": delivery_id, "typed_at": now}
    numbers = range(1, criteria + 1)
    verdicts = [
        VerdictDraft(criterion=number, verdict=_verdict(posted[f"verdict-{number}"]), **of)
        for number in numbers
        if f"verdict-{number}" in posted
    ]
    notes = [
        VerdictDraft(criterion=number, note=_clean(posted[f"note-{number}"]), **of)
        for number in numbers
        if f"note-{number}" in posted
    ]
    for rows, column in ((verdicts, "verdict"), (notes, "note")):
        VerdictDraft.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["person", "delivery", "criterion"],
            update_fields=[column, "typed_at"],
        )
    whole: dict[str, object] = {name: _clean(posted[name]) for name in WHOLE_FIELDS if name in posted}
    if "comment_path" in posted:
        whole["comment_path"] = _clean(posted["comment_path"])[:PATH_LIMIT]
    if "comment_line" in posted:
        whole["comment_line"] = _line(posted["comment_line"])
    if whole:
        Draft.objects.bulk_create(
            [Draft(**of, **whole)],
            update_conflicts=True,
            unique_fields=["person", "delivery"],
            update_fields=[*whole, "typed_at"],
        )


def add_comment(person_id: int, delivery_id: UUID) -> None:
    """The comment being written becomes one that goes out with the decision."""
    with transaction.atomic():
        draft = Draft.objects.select_for_update().filter(person_id=person_id, delivery_id=delivery_id).first()
        if draft is None or not draft.comment.strip():
            return
        CommentDraft.objects.create(
            person_id=person_id,
            delivery_id=delivery_id,
            path=draft.comment_path,
            line=draft.comment_line,
            text=draft.comment,
            typed_at=timezone.now(),
        )
        draft.comment, draft.comment_path, draft.comment_line = "", "", None
        draft.save()


def remove_comment(person_id: int, delivery_id: UUID, comment_id: int) -> None:
    """Take back one comment that has not been sent."""
    CommentDraft.objects.filter(pk=comment_id, person_id=person_id, delivery_id=delivery_id).delete()


def discard(person_id: int, delivery_id: UUID) -> None:
    """Forget what was typed: it was sent, or the person said so."""
    for model in (Draft, VerdictDraft, CommentDraft):
        model.objects.filter(person_id=person_id, delivery_id=delivery_id).delete()


def move(
    person_id: int, source: UUID, target: UUID, keeps: Sequence[int], lines: Mapping[int, int | None]
) -> None:
    """Carry a draft to another round. Words are added to what is there; a verdict there is kept.

    ``keeps`` are the criteria whose verdict moves; ``lines`` has the new line of each comment by its id.
    """
    with transaction.atomic():
        old, new = typed(person_id, source), typed(person_id, target)
        posted: dict[str, str] = {}
        for number, given in old.verdicts.items():
            there = new.given(number)
            posted[f"note-{number}"] = _joined(there.note, given.note)
            if number in keeps and given.word and not there.word:
                posted[f"verdict-{number}"] = given.word
        posted["note"], posted["reason"] = _joined(new.note, old.note), _joined(new.reason, old.reason)
        posted["comment"] = _joined(new.comment, old.comment)
        if old.comment and not new.comment:
            posted["comment_path"] = old.comment_path
        save(person_id, target, max(old.verdicts, default=0), posted)
        for comment in old.comments:
            CommentDraft.objects.create(
                person_id=person_id,
                delivery_id=target,
                path=comment.path,
                line=lines.get(comment.pk),
                text=comment.text,
                typed_at=timezone.now(),
            )
        discard(person_id, source)


def viewed(person_id: int, delivery_id: UUID) -> list[str]:
    """The paths this person has looked at."""
    rows = ViewedFile.objects.filter(person_id=person_id, delivery_id=delivery_id)
    return list(rows.values_list("path", flat=True))


def set_viewed(person_id: int, delivery_id: UUID, path: str, *, is_viewed: bool) -> None:
    """Mark a file as looked at, or not."""
    if not is_viewed:
        ViewedFile.objects.filter(person_id=person_id, delivery_id=delivery_id, path=path).delete()
        return
    row = ViewedFile(person_id=person_id, delivery_id=delivery_id, path=path, viewed_at=timezone.now())
    ViewedFile.objects.bulk_create([row], ignore_conflicts=True)


def _verdict(word: str) -> str:
    verdict = FORM_WORDS.get(word)
    return verdict.value if verdict else ""


def _clean(text: str) -> str:
    """PostgreSQL keeps no NUL; browsers send CRLF."""
    return text.replace("\x00", "").replace("\r\n", "\n")


def _line(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 7 else None


def _joined(there: str, moved: str) -> str:
    if not moved or moved == there:
        return there
    return f"{there}\n{moved}" if there else moved
