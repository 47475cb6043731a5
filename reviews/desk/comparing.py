"""Any two rounds beside each other: fields, criteria, the diff of the diffs, tests and screenshots.

Promises: nothing here decides or moves a draft. A round is compared with the one before it, or
with the one that the address names (``?base=1``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from claims.canonical import Item
from claims.models import Delivery
from claims.selectors import deliveries
from reviews.desk import conflict, evidence, page, reading
from reviews.desk.evidence.diffing import Entry
from reviews.desk.page import Opened
from reviews.desk.viewers.interdiff import Between, between
from reviews.desk.viewers.texts import cut, visible
from reviews.shell.draw import draw
from reviews.shell.rights import signed_in

FILES_COMPARED = 40
LINES_COMPARED = 2_500
"""Changed lines of both rounds that are compared for one page, some 50 ms of work."""
LINES_DRAWN = 400


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file in two rounds: what became of it, and the lines that differ."""

    path: str
    word: str
    came: int = 0
    went: int = 0
    html: SafeString | str = ""
    note: str = ""


@signed_in
@require_safe
def compare(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """What changed from an earlier round to a later one."""
    one = page.opened(request, delivery)
    old, new = rounds_of(one, page.lens_of(request).base)
    before, after = deliveries.evidence(old), deliveries.evidence(new)
    facts_before, facts_after = deliveries.facts_of(old), deliveries.facts_of(new)
    files, left = files_between(before, facts_before, after, facts_after)
    names = {item.name: item.sha256 for item in before}
    context = {
        "one": one,
        "delivery": one.delivery,
        "task": one.delivery.task,
        "label": page.label_of(one),
        "old": old,
        "new": new,
        "changes": conflict.changes_between(old, before, new, after),
        "rows": criteria_between(one.acceptance, before, after),
        "items": [{"item": item, "was": _was(names, item)} for item in after],
        "gone": [item for item in before if item.name not in {each.name for each in after}],
        "files": files,
        "left": left,
        "tests": evidence.tests_of(after, facts_after, before, ""),
        "pages": evidence.pages_of(after, facts_after, before),
        "address": request.path,
    }
    return draw(request, "decision_compare.html", context, pool=one.pool)


def rounds_of(one: Opened, base: int) -> tuple[Delivery, Delivery]:
    """The older and the newer of the two rounds."""
    asked = next((row for row in one.rounds if row.round == base and row.pk != one.delivery.pk), None)
    if asked is None:
        asked = one.newest if one.is_superseded else one.before.delivery if one.before else one.delivery
    first, second = sorted((asked, one.delivery), key=lambda row: row.round)
    return first, second


def criteria_between(
    acceptance: Sequence[Mapping[str, Any]], before: Sequence[Item], after: Sequence[Item]
) -> list[dict[str, Any]]:
    """Each criterion, and whether it rests on the very same evidence."""
    return [
        {
            "number": number,
            "text": str(each.get("text", "")),
            "is_same": deliveries.same_evidence(before, after, number),
        }
        for number, each in enumerate(acceptance, 1)
    ]


def _was(names: Mapping[str, str], item: Item) -> str:
    if item.name not in names:
        return "new"
    return "same" if names[item.name] == item.sha256 else "changed"


def files_between(
    before: Sequence[Item],
    facts_before: Mapping[str, Any],
    after: Sequence[Item],
    facts_after: Mapping[str, Any],
) -> tuple[list[ChangedFile], int]:
    """The files whose change is not the same in both rounds, and how many more were not compared."""
    old_diffs, new_diffs = evidence.diffs_of(before), evidence.diffs_of(after)
    if [item.sha256 for item in old_diffs] == [item.sha256 for item in new_diffs]:
        return [], 0
    try:
        old = {entry.path: entry for entry in evidence.entries_of(old_diffs, facts_before)}
        new = {entry.path: entry for entry in evidence.entries_of(new_diffs, facts_after)}
        return _files(old_diffs, old, new_diffs, new)
    except reading.Missing:
        return [], 0


def _files(
    old_diffs: Sequence[Item], old: Mapping[str, Entry], new_diffs: Sequence[Item], new: Mapping[str, Entry]
) -> tuple[list[ChangedFile], int]:
    found: list[ChangedFile] = []
    left_lines, left_out = LINES_COMPARED, 0
    for path in [*new, *(path for path in old if path not in new)]:
        mine, theirs = old.get(path), new.get(path)
        if mine is None or theirs is None:
            entry = theirs or mine
            if entry is not None:
                word = "only in the newer round" if mine is None else "only in the older round"
                found.append(ChangedFile(path, word, entry.added, entry.removed))
            continue
        left_lines -= mine.changed + theirs.changed
        if left_lines < 0 or len(found) > FILES_COMPARED:
            left_out += 1
            continue
        found += _file(path, old_diffs, mine, new_diffs, theirs)
    return found[:FILES_COMPARED], left_out + max(0, len(found) - FILES_COMPARED)


def _file(
    path: str, old_diffs: Sequence[Item], mine: Entry, new_diffs: Sequence[Item], theirs: Entry
) -> Iterator[ChangedFile]:
    """One file that both rounds touch; nothing where they change it alike."""
    if mine.is_binary or theirs.is_binary:
        yield ChangedFile(path, "binary", note="Its bytes are not compared.")
        return
    found: Between = between(
        reading.hunks_at(old_diffs[mine.source].sha256, mine.start, mine.size),
        reading.hunks_at(new_diffs[theirs.source].sha256, theirs.start, theirs.size),
    )
    if found.is_cut:
        yield ChangedFile(path, "changed", note="It differs, in more lines than are compared here.")
    elif found.came or found.went:
        yield ChangedFile(path, "changed", found.came, found.went, _drawn(found))


def _drawn(found: Between) -> SafeString:
    """The lines as table rows: what came and went between the rounds, each with its sign in the diff."""
    return format_html_join(
        "",
        '<tr class="{}"><td class="ln">{}</td><td class="c">{}</td></tr>',
        (
            ("" if line.kind == "same" else line.kind, line.sign, visible(cut(line.text)[0]))
            for line in found.lines[:LINES_DRAWN]
        ),
    )
