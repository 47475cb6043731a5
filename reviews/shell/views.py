"""/badges: the header's links with their counts, for open pages."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from reviews.shell.draw import draw
from reviews.shell.nav import nav_of, topics_of
from reviews.shell.requests import local_address
from reviews.shell.rights import pools_of_request, signed_in


@signed_in
@require_safe
def badges(request: HttpRequest) -> HttpResponse:
    """The links as they are now; ``at`` is the address of the page that shows them."""
    pools = pools_of_request(request)
    at = local_address(request, request.GET.get("at", "/"))
    context = {"nav": nav_of(request, pools, at), "at": at, "topics": topics_of(pools)}
    return draw(request, "badges.html", context, partial="links")
