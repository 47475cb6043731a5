"""/tasks/import: files chosen in the browser become tasks, with a report of what became of each."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from claims.taskfile import MOST_BYTES
from reviews.shell.draw import draw
from reviews.shell.requests import caller_of
from reviews.shell.rights import signed_in
from reviews.writing.importing import SUFFIXES, Fate, Incoming, Line, imported
from reviews.writing.page import preparing_pools

MOST_FILES = 100
"""As many as Django reads of one request."""


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def import_files(request: HttpRequest) -> HttpResponse:
    """The form, and after a post the report above it."""
    pools = preparing_pools(request)
    wanted = request.POST.get("pool", "")
    pool = next((one for one in pools if one.name == wanted), pools[0])
    given = request.FILES.getlist("files")
    lines = imported(caller_of(request), [_incoming(file) for file in given], pool.name) if given else []
    context = {
        "pools": pools,
        "pool": pool,
        "lines": lines,
        "counts": _counts(lines),
        "nothing": request.method == "POST" and not given,
        "most_files": MOST_FILES,
        "suffixes": ",".join(SUFFIXES),
    }
    is_refused = context["nothing"] or any(line.fate is Fate.REFUSED for line in lines)
    return draw(request, "task_import.html", context, pool=pool, status=422 if is_refused else 200)


def _incoming(file: UploadedFile[Any]) -> Incoming:
    """The file; one byte more than is read is enough to know that it is too large."""
    return Incoming(file.name or "a file without a name", file.read(MOST_BYTES + 1))


def _counts(lines: list[Line]) -> list[tuple[str, int]]:
    count = Counter(line.fate for line in lines)
    return [(fate.value, count[fate]) for fate in Fate]
