"""Pages for what went wrong, in the same frame, each with its request id.

404.html, 403.html and the like are drawn by Django's own handlers where no view was reached; a
signed-in person gets them with header and navigation.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from reviews.shell.draw import draw, draw_plain

MISSING = "There is nothing here, or it is in a pool you have no right in."
FORBIDDEN = "You do not have the right to do this."


def refused(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    """A 403 or 404: what is so, and who can help. ``sentence`` comes from the view, never from the address."""
    context = {"status": status, "sentence": sentence, "path": request.path}
    if request.user.is_authenticated:
        return draw(request, "errors/refused.html", context, status=status)
    return draw_plain(request, "errors/refused_plain.html", context, status)


def nowhere(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Every address that no page has."""
    return refused(request, 404, MISSING)
