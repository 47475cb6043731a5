"""Evidence of an attempt that belongs to no round: bytes that no browser runs, for those who see the task."""

from __future__ import annotations

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from claims import evidence
from claims.canonical import Item
from claims.selectors import provenance
from reviews.desk.bytes import ENDINGS, GONE, locked
from reviews.shell.rights import signed_in
from reviews.taskpage.views import found


@signed_in
@require_safe
def download(request: HttpRequest, ref: str, generation: int, sha256: str) -> HttpResponse:
    """The very bytes, as an attachment under a name that this server made."""
    task = found(request, ref)
    file = provenance.file_of(task.pk, generation, sha256)
    if file is None:
        raise Http404(GONE)
    try:
        stream = evidence.open_bytes(sha256)
    except OSError as error:
        raise Http404(GONE) from error
    ending = ENDINGS.get(file.kind, ".bin") if isinstance(file, Item) else ".bin"
    answer = FileResponse(
        stream,
        as_attachment=True,
        filename=f"{task}-gen-{generation}-{sha256[:12]}{ending}",
        content_type="application/octet-stream",
    )
    return locked(answer)  # type: ignore[return-value]
