"""Who may see a page: signed in, with a right in the pool. What is not visible is not found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from claims.selectors.seen import SeenPool, pools_of
from claims.vocabulary import Right
from reviews.shell.requests import htmx_of, person_of

_More = ParamSpec("_More")


def signed_in(
    view: Callable[Concatenate[HttpRequest, _More], HttpResponse],
) -> Callable[Concatenate[HttpRequest, _More], HttpResponse]:
    """A view for people who are signed in: others go to sign-in and come back; a fragment answers 401."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: _More.args, **kwargs: _More.kwargs) -> HttpResponse:
        if request.user.is_authenticated:
            try:
                return view(request, *args, **kwargs)
            except Http404 as missing:
                return _refused(request, 404, str(missing))
            except PermissionDenied as refusal:
                return _refused(request, 403, str(refusal))
        if htmx_of(request):
            return HttpResponse(status=401)
        if request.method == "POST":
            return _ended(request)
        return HttpResponseRedirect(f"{reverse('signin')}?{urlencode({'next': request.get_full_path()})}")

    return cast(Callable[Concatenate[HttpRequest, _More], HttpResponse], guarded)


def _refused(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    """The page of a refusal. Imported late: that page's frame is drawn from this module's rights."""
    from reviews.shell import errors

    return errors.refused(
        request, status, sentence or (errors.MISSING if status == 404 else errors.FORBIDDEN)
    )


def _ended(request: HttpRequest) -> HttpResponse:
    from reviews.shell import errors

    return errors.ended(request)


def pools_of_request(request: HttpRequest) -> tuple[SeenPool, ...]:
    """The pools of the signed-in person; asked once a request."""
    known: tuple[SeenPool, ...] | None = getattr(request, "fencepost_pools", None)
    if known is None:
        known = pools_of(person_of(request).pk)
        request.fencepost_pools = known  # type: ignore[attr-defined]
    return known


def pool_named(request: HttpRequest, name: str, *rights: Right) -> SeenPool:
    """The pool ``name`` in which the person has one of ``rights`` (any right when none is named).

    Raises ``Http404`` otherwise: a pool one may not see and one that is not there look the same.
    """
    for pool in pools_of_request(request):
        if pool.name == name and (not rights or pool.allows(*rights)):
            return pool
    raise Http404(f"There is no pool {name} that you can see.")


def rights_words(pools: Iterable[SeenPool]) -> str:
    """What the person may do where, in a line: ``reviewer, operator in billing · viewer in sandbox``."""
    return " · ".join(f"{_most(pool)} in {pool.name}" for pool in pools) or "no rights in any pool yet"


def _most(pool: SeenPool) -> str:
    """The rights worth saying: an administrator has all of them, and everybody may view."""
    if pool.allows(Right.ADMIN):
        return "admin"
    words = [right.value.lower() for right in Right if right in pool.rights and right is not Right.VIEWER]
    return ", ".join(words) or "viewer"
