"""/tasks/new: write a task, check it, keep it, publish it; and import a folder of files.

Promises: every answer that refuses draws what was typed; a draft becomes one task, however often it is
sent; without script each button is a post that leads back to the page.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.contrib import messages
from django.core.validators import slug_re
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from claims import canonical, transitions
from claims.outcomes import Refused, Why
from claims.selectors import tasks
from claims.selectors.seen import ids_with
from claims.taskfile import MOST_BYTES
from claims.vocabulary import Right
from reviews.models import TaskDraft
from reviews.shell.draw import is_fragment
from reviews.shell.requests import caller_of, person_of
from reviews.shell.rights import signed_in
from reviews.writing import drafts, gallery, page, sources
from reviews.writing.drafts import Elsewhere, Typed
from reviews.writing.fields import DECIDES, place_of
from reviews.writing.page import Asked, Told

NO_TEMPLATE = "There is no template {name}, and no such task in a pool in which you write tasks."
NO_DRAFT = "There is no draft of yours at this address."
TOO_LONG = (
    f"Nothing was kept: a template has at most {MOST_BYTES // 1024} KB. Shorten it; it stays on this page."
)
UNREADABLE = "The form could not be written into the YAML, because the YAML cannot be read. Both are kept as you typed them."
UNCHECKED = "Nothing was published: the YAML cannot be read, and the form has changes that are not in it."


@signed_in
@require_safe
def new(request: HttpRequest) -> HttpResponse:
    """A new task, or the draft that the address names."""
    page.preparing_pools(request)
    draft_id = _id(request.GET.get("draft", ""))
    row = drafts.find(person_of(request).pk, draft_id) if draft_id else None
    asked = Asked(request.GET.get("find", "")[:200], "", row is None, row.typed_at if row else None)
    if row is None:
        return page.drawn(request, page.fresh(request, draft_id or uuid4()), asked=asked)
    if row.published is not None:
        return HttpResponseRedirect(reverse("task", args=[f"T-{row.published}"]))
    return page.drawn(request, page.typed_of(row), Told(elsewhere=row) if row.seat else None, asked)


@signed_in
@require_safe
def begin(request: HttpRequest, template: str) -> HttpResponse:
    """A new task from a template of the gallery, or like a task of a pool in which the person writes tasks."""
    pools = page.preparing_pools(request)
    wanted = request.GET.get("pool", "")
    pool = next((one for one in pools if one.name == wanted), pools[0])
    text = gallery.text_of(template, pool.name)
    if text is None:
        task = tasks.find(template, ids_with(pools, Right.PREPARER))
        if task is None:
            raise Http404(NO_TEMPLATE.format(name=template[:80]))
        text = gallery.text_of_task(task)
    return page.drawn(request, page.fresh(request, uuid4(), text))


@signed_in
@require_safe
def like(request: HttpRequest) -> HttpResponse:
    """Where the field "like task T-…" leads."""
    wanted = request.GET.get("task", "").strip()[:80] or gallery.EMPTY
    if not slug_re.fullmatch(wanted):
        raise Http404(NO_TEMPLATE.format(name=wanted))
    return HttpResponseRedirect(reverse("task-from", args=[wanted]))


@signed_in
@require_POST
def check(request: HttpRequest) -> HttpResponse:
    """Both sides brought together, kept and checked; ``edit`` is a press of one of the form's buttons."""
    page.preparing_pools(request)
    if _is_locked(request):
        return _as_kept(request)
    typed, field, told = _edited(_typed(request), request.POST.get("edit", ""))
    kept = _kept(request, typed)
    if isinstance(kept, HttpResponse):
        return kept
    typed = replace(typed, version=kept.version)
    asked = Asked(request.POST.get("find", "")[:200], field, saved_at=kept.typed_at)
    if is_fragment(request) or told is not None:
        return page.drawn(
            request, typed, told, asked, status=409 if told and not is_fragment(request) else 200
        )
    query = {"draft": str(typed.draft)} | ({"find": asked.find} if asked.find else {})
    return HttpResponseRedirect(
        f"{reverse('task-new')}?{urlencode(query)}" + (f"#f-{field}" if field else "")
    )


@signed_in
@require_POST
def scope(request: HttpRequest) -> HttpResponse:
    """What the scope means, and the files that were searched for; nothing is kept."""
    page.preparing_pools(request)
    return page.drawn(
        request, _typed(request), asked=Asked(request.POST.get("find", "")[:200]), partial="scope"
    )


@signed_in
@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """What the agent would see; nothing is kept."""
    page.preparing_pools(request)
    return page.drawn(request, _typed(request), partial="preview")


@signed_in
@require_POST
def seat(request: HttpRequest) -> HttpResponse:
    """Sit down at a draft, leave it, take it over, keep what is typed as another one, or forget it."""
    page.preparing_pools(request)
    typed, person, do = _typed(request), person_of(request).pk, request.POST.get("do", "")
    if do == "sit":
        sat = drafts.sit(person, typed.draft, typed.seat)
        if isinstance(sat, Elsewhere):
            return page.drawn(request, typed, Told(elsewhere=sat.draft), partial="told", status=409)
        return HttpResponse(status=204)
    if do == "leave":
        if "source" in request.POST:
            _kept(request, typed)
        drafts.leave(person, typed.draft, typed.seat)
        return HttpResponse(status=204)
    if do == "discard":
        drafts.discard(person, typed.draft)
        messages.success(request, "The draft is gone.")
        return HttpResponseRedirect(reverse("task-new"))
    return _moved(request, typed, do)


def _moved(request: HttpRequest, typed: Typed, do: str) -> HttpResponse:
    """Take a draft over, as it is kept or with what is typed here; or keep that as a draft of its own."""
    person = person_of(request).pk
    if do != "take" and _is_locked(request):
        return _as_kept(request)
    if do == "fork":
        typed = replace(typed, draft=uuid4(), version=0)
    if do == "take":
        row = drafts.find(person, typed.draft)
        typed = (
            typed
            if row is None
            else Typed(row.pk, row.source, row.base, row.pending, typed.seat, row.version)
        )
    kept = _kept(request, typed, take=True)
    if isinstance(kept, HttpResponse):
        return kept
    return HttpResponseRedirect(f"{reverse('task-new')}?draft={kept.pk}")


@signed_in
@require_POST
def publish(request: HttpRequest) -> HttpResponse:
    """The draft becomes a task, in the name of the person."""
    page.preparing_pools(request)
    if _is_locked(request):
        return _as_kept(request)
    typed = _typed(request)
    kept = _kept(request, typed)
    if isinstance(kept, HttpResponse):
        return kept
    typed, template = replace(typed, version=kept.version), sources.read(typed.source).template
    if template is None or typed.pending or not template.pool:
        told = Told(sentence=UNCHECKED) if typed.pending else Told(invalid=True)
        return page.drawn(request, typed, told, Asked(saved_at=kept.typed_at), status=422)
    digest = canonical.digest({"source": typed.source})
    made = transitions.create(
        caller_of(request, f"draft-{typed.draft}", digest), template.pool, [template.task]
    )
    if isinstance(made, Refused) and made.why is Why.IN_PROGRESS:
        return HttpResponseRedirect(f"{reverse('task-new')}?draft={typed.draft}")
    if isinstance(made, Refused):
        return _refused(request, typed, made)
    task = made.tasks[0]
    drafts.published(person_of(request).pk, typed.draft, task.number)
    messages.success(request, f"T-{task.number} is {task.state.lower()} in the pool {template.pool}.")
    return HttpResponseRedirect(reverse("task", args=[f"T-{task.number}"]))


def _refused(request: HttpRequest, typed: Typed, refused: Refused) -> HttpResponse:
    """Nothing was made. A pool that is not there and one that one may not see are told alike."""
    status = 422 if refused.why is Why.NOT_FOUND else refused.rule.status
    return page.drawn(request, typed, Told(refused=refused), status=status)


def _typed(request: HttpRequest) -> Typed:
    """What the page holds, with the form's changes written into the text. Raises ``Http404`` without a draft."""
    draft_id = _id(request.POST.get("draft", ""))
    if draft_id is None:
        raise Http404(NO_DRAFT)
    source, base = (_clean(request.POST.get(name, "")) for name in ("source", "base"))
    form = {
        name: _clean(str(value))
        for name, value in request.POST.items()
        if name == DECIDES or place_of(name) is not None
    }
    if len(source.encode()) > MOST_BYTES:
        merged = sources.Merged(source, base, form)
    else:
        merged = sources.merged(base, source, form)
    version = request.POST.get("version", "")
    known = int(version) if version.isascii() and version.isdigit() and len(version) <= 18 else 0
    return Typed(draft_id, merged.text, merged.base, merged.pending, request.POST.get("seat", "")[:40], known)


def _is_locked(request: HttpRequest) -> bool:
    """Whether the page could not be typed in: its fields were off, and none of them came along."""
    return "source" not in request.POST


def _as_kept(request: HttpRequest) -> HttpResponse:
    """Nothing was typed: back to the draft as it is kept."""
    draft_id = _id(request.POST.get("draft", ""))
    if draft_id is None:
        raise Http404(NO_DRAFT)
    return HttpResponseRedirect(f"{reverse('task-new')}?draft={draft_id}")


def _edited(typed: Typed, edit: str) -> tuple[Typed, str, Told | None]:
    """After a button of the form was pressed: the draft, the field to type in, what could not be done."""
    if not edit:
        return typed, "", None
    if typed.pending:
        return typed, "", Told(sentence=UNREADABLE)
    try:
        text, field = sources.edited(typed.source, edit)
    except sources.Unreadable:
        return typed, "", Told(sentence=UNREADABLE)
    return replace(typed, source=text, base=text), field, None


def _kept(request: HttpRequest, typed: Typed, *, take: bool = False) -> TaskDraft | HttpResponse:
    """The draft as it is kept now; or the answer that says why it is not."""
    if len(typed.source.encode()) > MOST_BYTES:
        return page.drawn(request, typed, Told(sentence=TOO_LONG), status=422)
    kept = drafts.save(person_of(request).pk, typed, take=take)
    if kept is None:
        raise Http404(NO_DRAFT)
    if isinstance(kept, Elsewhere):
        if kept.draft.published is not None and kept.draft.source == typed.source:
            return HttpResponseRedirect(reverse("task", args=[f"T-{kept.draft.published}"]))
        told = Told(elsewhere=kept.draft, was_typing=True)
        return page.drawn(request, typed, told, partial="told", status=409)
    return kept


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _clean(text: str) -> str:
    """PostgreSQL keeps no NUL; browsers send CRLF."""
    return text.replace("\x00", "").replace("\r\n", "\n")
