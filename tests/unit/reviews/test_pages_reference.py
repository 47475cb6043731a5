"""docs/reference/pages.md names every page there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import URLPattern

from reviews import urls

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "pages.md"
OURS = [
    str(one.pattern)
    for one in urls.urlpatterns
    if isinstance(one, URLPattern) and one.name not in ("start", "nowhere")
]


@pytest.mark.parametrize("route", OURS)
def test_every_page_is_in_the_reference(route: str) -> None:
    written = (
        route.replace("<slug:bucket>", "<bucket>")
        .replace("<str:ref>", "<task>")
        .replace("<slug:tab>", "<tab>")
        .replace("<slug:code>", "<code>")
        .replace("<str:effect>", "<effect>")
    )
    assert f"`/{written}`" in REFERENCE.read_text()
