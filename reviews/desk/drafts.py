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

from claims.comments import LAST_LINE, WHOLE
from claims.vocabulary import Verdict
from reviews.desk import places
from reviews.desk.places import Note, Place
from reviews.models import CommentDraft, Draft, PlaceKind, VerdictDraft, ViewedFile

FORM_WORDS = {"met": Verdict.MET, "not-met": Verdict.NOT_MET, "cannot-tell": Verdict.CANNOT_TELL}
"""How a form names a verdict."""
WORDS_OF = {verdict.value: word for word, verdict in FORM_WORDS.items()}
WHOLE_FIELDS = ("note", "reason", "comment")


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
    place: Place = field(default_factory=Place)
    comments: Sequence[Note] = ()
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
        """The comments that go out, the one still being written included; one left empty does not."""
        said = [(note.place, note.text) for note in self.comments]
        said.append((self.place, self.comment))
        return [{**place.as_json(), "text": text.strip()} for place, text in said if text.strip()]


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
        _place_of(whole) if whole else Place(),
        [Note(at, place_of_row(row), row.text, row.pk) for at, row in enumerate(comments, 1)],
        max(times, default=None),
    )


def keep(person_id: int, delivery_id: UUID, criteria: int, posted: Mapping[str, str]) -> None:
    """Keep the fields that were posted. A few statements, none of them on the contract's tables."""
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
    _keep_comments(person_id, delivery_id, posted, now)
    whole: dict[str, object] = {name: _clean(posted[name]) for name in WHOLE_FIELDS if name in posted}
    whole |= _posted_place(posted)
    if whole:
        Draft.objects.bulk_create(
            [Draft(**of, **whole)],
            update_conflicts=True,
            unique_fields=["person", "delivery"],
            update_fields=[*whole, "typed_at"],
        )


def _posted_place(posted: Mapping[str, str]) -> dict[str, object]:
    """The columns of the place that the comment being written is about, as far as they were posted."""
    found: dict[str, object] = {}
    if "comment_place" in posted:
        named = places.place_of(_clean(posted["comment_place"]), "", "", "")
        found |= {"comment_kind": named.kind, "comment_path": named.name}
    for column, highest in (("line", LAST_LINE), ("x", WHOLE), ("y", WHOLE)):
        if f"comment_{column}" in posted:
            found[f"comment_{column}"] = places.number_of(posted[f"comment_{column}"], highest)
    return found


def _keep_comments(person_id: int, delivery_id: UUID, posted: Mapping[str, str], now: datetime) -> None:
    """The texts of comments that are edited; an empty one stays, and does not go out."""
    for name, text in posted.items():
        number = name.removeprefix("comment-")
        if name.startswith("comment-") and number.isascii() and number.isdigit() and len(number) < 18:
            rows = CommentDraft.objects.filter(pk=int(number), person_id=person_id, delivery_id=delivery_id)
            rows.update(text=_clean(text), typed_at=now)


def add_comment(person_id: int, delivery_id: UUID) -> None:
    """The comment being written becomes one that goes out with the decision."""
    with transaction.atomic():
        draft = Draft.objects.select_for_update().filter(person_id=person_id, delivery_id=delivery_id).first()
        if draft is None or not draft.comment.strip():
            return
        say(person_id, delivery_id, _place_of(draft), draft.comment)
        draft.comment, draft.comment_path, draft.comment_line = "", "", None
        draft.comment_kind, draft.comment_x, draft.comment_y = PlaceKind.FILE, None, None
        draft.save()


def say(person_id: int, delivery_id: UUID, place: Place, text: str) -> None:
    """Add a comment that goes out with the decision."""
    CommentDraft.objects.create(
        person_id=person_id,
        delivery_id=delivery_id,
        kind=place.kind,
        path=place.name,
        line=place.line,
        x=place.x,
        y=place.y,
        text=text,
        typed_at=timezone.now(),
    )


def remove_comment(person_id: int, delivery_id: UUID, comment_id: int) -> None:
    """Take back one comment that has not been sent."""
    CommentDraft.objects.filter(pk=comment_id, person_id=person_id, delivery_id=delivery_id).delete()


def discard(person_id: int, delivery_id: UUID) -> None:
    """Forget what was typed: it was sent, or the person said so."""
    for model in (Draft, VerdictDraft, CommentDraft):
        model.objects.filter(person_id=person_id, delivery_id=delivery_id).delete()


def move(
    person_id: int, source: UUID, target: UUID, keeps: Sequence[int], carried: Mapping[int, Place]
) -> None:
    """Carry a draft to another round. Words are added to what is there; a verdict there is kept.

    ``keeps`` are the criteria whose verdict moves; ``carried`` has the new place of each comment that
    does, by its id. The others stay with the round they were written for.
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
            posted["comment_place"] = old.place.value
        keep(person_id, target, max(old.verdicts, default=0), posted)
        moved = [note for note in old.comments if note.pk in carried]
        for note in moved:
            say(person_id, target, carried[note.pk], note.text)
        of = {"person_id": person_id, "delivery_id": source}
        CommentDraft.objects.filter(pk__in=[note.pk for note in moved], **of).delete()
        for model in (Draft, VerdictDraft):
            model.objects.filter(**of).delete()


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


def place_of_row(row: CommentDraft) -> Place:
    """The place of a comment that was added."""
    return Place(row.kind, row.path, row.line, row.x, row.y)


def _place_of(draft: Draft) -> Place:
    """The place of the comment being written."""
    return Place(draft.comment_kind, draft.comment_path, draft.comment_line, draft.comment_x, draft.comment_y)


def _joined(there: str, moved: str) -> str:
    if not moved or moved == there:
        return there
    return f"{there}\n{moved}" if there else moved
