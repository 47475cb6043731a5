"""Pages for what went wrong, in the same frame, each with its request id.

404.html, 403.html and the like are drawn by Django's own handlers where no view was reached; a
signed-in person gets them with header and navigation.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from reviews.shell.draw import draw, draw_plain

SECRET = ("password", "csrf")
"""Fields whose name holds one of these are never drawn again."""
MOST_FIELDS, SHORTEST = 200, 3
MISSING = "There is nothing here, or it is in a pool you have no right in."
FORBIDDEN = "You do not have the right to do this."


def refused(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    """A 403 or 404: what is so, and who can help. ``sentence`` comes from the view, never from the address."""
    context = {"status": status, "sentence": sentence, "path": request.path, "typed": typed_in(request)}
    if request.user.is_authenticated:
        return draw(request, "errors/refused.html", context, status=status)
    return draw_plain(request, "errors/refused_plain.html", context, status)


def ended(request: HttpRequest) -> HttpResponse:
    """A form of somebody who is not signed in any more: nothing was changed, and what was typed is on the page."""
    return draw_plain(request, "errors/ended.html", {"typed": typed_in(request), "path": request.path}, 401)


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without the token of this session, mostly one from before a sign-in; likewise (CSRF_FAILURE_VIEW)."""
    return draw_plain(request, "403_csrf.html", {"typed": typed_in(request)}, 403)


def typed_in(request: HttpRequest) -> list[tuple[str, str]]:
    """The words of a form that was not taken, by field: what a person typed, not what a page put there."""
    if request.method != "POST":
        return []
    fields = list(request.POST.items())[:MOST_FIELDS]
    return [(name, str(value)) for name, value in fields if _is_typed(name, str(value))]


def _is_typed(name: str, value: str) -> bool:
    is_secret = any(word in name.lower() for word in SECRET)
    is_drawn = name in ("subject", "key", "next") or name.startswith("was")
    return not is_secret and not is_drawn and len(value.strip()) >= SHORTEST


def nowhere(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Every address that no page has."""
    return refused(request, 404, MISSING)
