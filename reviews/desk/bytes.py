"""Evidence over HTTP: pictures drawn anew, everything else as a download that no browser runs."""

from __future__ import annotations

import re
from uuid import UUID

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from claims import evidence
from claims.canonical import Item
from claims.selectors import deliveries
from reviews.desk import page, reading
from reviews.desk.viewers.pictures import NotAPicture
from reviews.shell.rights import signed_in

GONE = "The evidence storage does not have these bytes."
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
ENDINGS = {"diff": ".diff", "command": ".log", "log": ".log", "test-report": ".xml", "screenshot": ".png"}


@signed_in
@require_safe
def download(request: HttpRequest, delivery: UUID, sha256: str) -> HttpResponse:
    """The very bytes, as an attachment."""
    return attached(sha256, _name(_item(request, delivery, sha256)))


@signed_in
@require_safe
def picture(request: HttpRequest, delivery: UUID, sha256: str) -> HttpResponse:
    """A screenshot as a PNG that the server drew from its pixels."""
    _item(request, delivery, sha256)
    return drawn_anew(sha256)


def _item(request: HttpRequest, delivery_id: UUID, sha256: str) -> Item:
    item = deliveries.has_evidence(page.opened(request, delivery_id).delivery, sha256)
    if item is None:
        raise Http404(GONE)
    return item


def _name(item: Item) -> str:
    """A file name without anything a shell or a browser reads into it."""
    name = _UNSAFE.sub("-", item.name).strip(".-") or "evidence"
    return name if "." in name else name + ENDINGS.get(item.kind, "")


def attached(sha256: str, name: str) -> HttpResponse:
    """The bytes of this digest as a download under a name that the server made. Raises ``Http404``."""
    try:
        stream = evidence.open_bytes(sha256)
    except OSError as error:
        raise Http404(GONE) from error
    answer = FileResponse(stream, as_attachment=True, filename=name, content_type="application/octet-stream")
    return locked(answer)  # type: ignore[return-value]


def drawn_anew(sha256: str) -> HttpResponse:
    """The picture of this digest as a PNG of its pixels. Raises ``Http404``."""
    try:
        content = reading.picture_of(sha256)
    except (reading.Missing, NotAPicture) as error:
        raise Http404(GONE) from error
    answer = HttpResponse(content, content_type="image/png")
    answer["Cache-Control"] = "private, max-age=86400, immutable"
    locked(answer)
    return answer


def locked(answer: HttpResponseBase) -> HttpResponseBase:
    """The answer as bytes that no browser sniffs, runs or embeds elsewhere."""
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Security-Policy"] = "sandbox; default-src 'none'"
    answer["Cross-Origin-Resource-Policy"] = "same-origin"
    return answer
