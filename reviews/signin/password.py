"""/account/password: a person changes their own password. Guessing the old one is limited like signing in."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from reviews.shell.draw import draw
from reviews.shell.requests import person_of
from reviews.shell.rights import signed_in
from reviews.signin import tries


@sensitive_post_parameters("old_password", "new_password1", "new_password2")
@never_cache
@signed_in
@require_http_methods(["GET", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """The form, and its answer. This session goes on; every other session of the person ends."""
    person = person_of(request)
    form = PasswordChangeForm(person, request.POST or None)
    if request.method == "GET":
        return _page(request, form)
    name = person.get_username()
    if tries.left(request, name) <= 0:
        return _locked(request)
    if not form.is_valid():
        if form.has_error("old_password", "password_incorrect") and tries.count_one(request, name) <= 0:
            return _locked(request)
        return _page(request, form, status=422)

    tries.forget(request, name)
    update_session_auth_hash(request, form.save())
    messages.success(request, "Your password is changed. You are signed out everywhere else.")
    return HttpResponseRedirect(reverse("password"))


def _locked(request: HttpRequest) -> HttpResponse:
    sentence = f"Too many tries. Wait {tries.WINDOW_SECONDS // 60} minutes."
    answer = _page(request, PasswordChangeForm(person_of(request)), sentence, 429)
    answer["Retry-After"] = str(tries.WINDOW_SECONDS)
    return answer


def _page(
    request: HttpRequest, form: PasswordChangeForm, locked: str = "", status: int = 200
) -> HttpResponse:
    return draw(request, "password.html", {"form": form, "locked": locked}, status=status)
