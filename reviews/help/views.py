"""/help/problems: what each refusal means. For everybody, signed in or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from reviews.help import problems
from reviews.shell.draw import draw, draw_plain
from reviews.shell.errors import refused


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The table of all codes."""
    return _page(request, "help.html", {"problems": problems.problems()})


@require_safe
def problem(request: HttpRequest, code: str) -> HttpResponse:
    """One code; 404 for one that no answer has."""
    found = problems.problem(code)
    if found is None:
        return refused(request, 404, "No answer of this server has a code of this name.")
    return _page(request, "help_problem.html", {"problem": found})


def _page(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """With header and navigation for somebody who is signed in."""
    if request.user.is_authenticated:
        return draw(request, template, {**context, "frame": "base.html"})
    return draw_plain(request, template, {**context, "frame": "base_plain.html"})
