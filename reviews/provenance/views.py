"""/tasks/<task>/record: who made the result of a task, who accepted it and on what, to read and to take along."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from claims.models import Task
from claims.selectors import people, provenance
from claims.selectors.chain import verify_chain
from reviews.desk.bytes import locked
from reviews.provenance import facts
from reviews.shell.draw import draw
from reviews.shell.rights import pools_of_request, signed_in
from reviews.taskpage.views import found

ROWS_CHECKED = 2_000
"""Rows of history whose hashes are taken again for one page; of more, the file is verified."""
NO_RECORD = "{task} has no record yet: it has no canonical result."


@signed_in
@require_safe
def page(request: HttpRequest, ref: str) -> HttpResponse:
    """What the record says, in words; a sentence where there is none yet."""
    task = found(request, ref)
    pool = next(pool for pool in pools_of_request(request) if pool.id == task.pool_id)
    record = provenance.record_of(task.pk)
    if record is None:
        return draw(request, "record.html", {"task": task, "seen": None}, pool=pool)
    names = people.names(facts.people_in(record.predicate))
    context = {
        "task": task,
        "record": record,
        "seen": facts.seen_in(record, names),
        "chain": _chain(task),
    }
    return draw(request, "record.html", context, pool=pool)


def _chain(task: Task) -> facts.Chain:
    """Whether the rows follow from each other, as far as a page may take the time to look."""
    if task.state_version > ROWS_CHECKED:
        return facts.Chain(is_checked=False)
    return facts.Chain(is_checked=True, wrong=verify_chain(task.pk) or "")


@signed_in
@require_safe
def download(request: HttpRequest, ref: str) -> HttpResponse:
    """The record as a file, which ``fencepost verify`` reads."""
    task = found(request, ref)
    record = provenance.record_of(task.pk)
    if record is None:
        raise Http404(NO_RECORD.format(task=task))
    answer = HttpResponse(provenance.written(record), content_type=provenance.MEDIA_TYPE)
    answer["Content-Disposition"] = f'attachment; filename="{record.file_name}"'
    answer["Cache-Control"] = "private, no-cache"
    return locked(answer)  # type: ignore[return-value]
