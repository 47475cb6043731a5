"""Signing in and out, with a limit on guesses. A wrong name and a wrong password look the same."""

from __future__ import annotations

from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from reviews.shell.draw import draw_plain
from reviews.shell.requests import THEMES, local_address
from reviews.signin import tries

YEAR_SECONDS = 365 * 24 * 3_600


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "POST"])
def signin(request: HttpRequest) -> HttpResponse:
    """The form, and its answer: on to ``next`` when it is an address of this server."""
    wanted = local_address(request, request.POST.get("next") or request.GET.get("next") or "/")
    if request.method == "GET":
        return HttpResponseRedirect(wanted) if request.user.is_authenticated else _form(request, wanted)

    name = request.POST.get("username", "").strip()[:150]
    if tries.left(request, name) <= 0 or (left := tries.count_one(request, name)) < 0:
        return _form(request, wanted, name, _locked(), status=429)
    person = _person(request, name, request.POST.get("password", ""))
    if person is None:
        return _form(request, wanted, name, _wrong(left), status=429 if left <= 0 else 401)

    tries.forget(request, name)
    tries.give_back(request, name)
    login(request, person)
    return HttpResponseRedirect(wanted)


def _person(request: HttpRequest, name: str, password: str) -> User | None:
    """The person of this name, or e-mail address where exactly one has it, and password."""
    if not name or not password or "\x00" in name + password:
        return None
    if "@" in name:
        known = list(User.objects.filter(email__iexact=name).values_list("username", flat=True)[:2])
        name = known[0] if len(known) == 1 else name
    person = authenticate(request, username=name, password=password)
    return person if isinstance(person, User) else None


def _wrong(left: int) -> str:
    if left <= 0:
        return _locked()
    return f"Name and password do not match. {left} {'try' if left == 1 else 'tries'} left."


def _locked() -> str:
    return f"Too many tries. Wait {tries.WINDOW_SECONDS // 60} minutes, or ask an administrator to set a new password."


def _form(
    request: HttpRequest, wanted: str, name: str = "", error: str = "", status: int = 200
) -> HttpResponse:
    context = {"next": wanted, "next_words": _next_words(wanted), "username": name, "error": error}
    answer = draw_plain(request, "signin.html", context, status)
    if status == 429:
        answer["Retry-After"] = str(tries.WINDOW_SECONDS)
    return answer


def _next_words(wanted: str) -> str:
    """Where signing in leads, in words; nothing for the start page and what has no name."""
    path = wanted.split("?")[0]
    places = {"/board": "the board", "/reviews": "your reviews", "/operations": "operations"}
    if path in places:
        return places[path]
    if path.startswith("/reviews/"):
        return "the review you opened"
    if path.startswith("/tasks/"):
        return "the task you opened"
    return ""


@require_POST
def signout(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return HttpResponseRedirect("/signin")


@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    """Theme and single keys, kept in cookies of this browser for a year; back to where the person was."""
    answer = HttpResponseRedirect(local_address(request, request.POST.get("next", "/")))
    theme = request.POST.get("theme", "")
    if theme in THEMES:
        answer.set_cookie(
            "fencepost-theme",
            theme,
            max_age=YEAR_SECONDS,
            samesite="Lax",
            httponly=True,
            secure=request.is_secure(),
        )
    elif theme:
        answer.delete_cookie("fencepost-theme")
    keys = request.POST.get("keys", "")
    if keys == "off":
        answer.set_cookie(
            "fencepost-keys",
            "off",
            max_age=YEAR_SECONDS,
            samesite="Lax",
            httponly=True,
            secure=request.is_secure(),
        )
    elif keys:
        answer.delete_cookie("fencepost-keys")
    return answer
