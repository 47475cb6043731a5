"""Evidence of an attempt that belongs to no round: bytes that no browser runs, for those who see the task."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from claims.canonical import Item
from claims.models import EvidenceFile, Task
from claims.selectors import provenance
from reviews.desk.bytes import ENDINGS, GONE, attached, drawn_anew
from reviews.shell.rights import signed_in
from reviews.taskpage.views import found


@signed_in
@require_safe
def download(request: HttpRequest, ref: str, generation: int, sha256: str) -> HttpResponse:
    """The very bytes, as an attachment under a name that this server made."""
    task, file = _file(request, ref, generation, sha256)
    ending = ENDINGS.get(file.kind, ".bin") if isinstance(file, Item) else ".bin"
    return attached(sha256, f"{task}-gen-{generation}-{sha256[:12]}{ending}")


@signed_in
@require_safe
def picture(request: HttpRequest, ref: str, generation: int, sha256: str) -> HttpResponse:
    """A screenshot as a PNG that the server drew from its pixels."""
    _file(request, ref, generation, sha256)
    return drawn_anew(sha256)


def _file(request: HttpRequest, ref: str, generation: int, sha256: str) -> tuple[Task, EvidenceFile | Item]:
    """The task and the attempt's file. Raises ``Http404``."""
    task = found(request, ref)
    file = provenance.file_of(task.pk, generation, sha256)
    if file is None:
        raise Http404(GONE)
    return task, file
