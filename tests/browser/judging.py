"""What every page must be, judged on one load: at both widths, in both themes, by axe and by its own figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.conftest import THEMES, WIDTHS

MOST_SCRIPT_BYTES = 70 * 1024
"""Before compression, of one page with all that it imports (docs/explanation/proofs.md, "The desk")."""
RUN = "(rules) => axe.run({resultTypes: ['violations'], ...rules}).then((found) => found.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(' ')}`))"
OF_COLOUR = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""What a theme can change: both themes have the same elements in the same places."""
SCRIPTS = "() => performance.getEntriesByType('resource').filter((one) => one.name.endsWith('.js')).map((one) => [one.name, one.decodedBodySize])"
LEVELS = "() => [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter((one) => one.checkVisibility() && !one.closest('dialog')).map((one) => Number(one.tagName[1]))"
HASH = re.compile(r"\.[0-9a-f]{12}(?=\.js$)")


def flaws(page: Page, widths: Iterable[int] = WIDTHS, themes: Iterable[str] = THEMES) -> list[str]:
    """Everything amiss on the page that is open, as sentences; the page keeps the last width and theme."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = _headings(page) + _scripts(page)
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        found += _sideways(page, width)
        for number, theme in enumerate(themes):
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            rules: Any = OF_COLOUR if number else {}
            found += [f"{width} px, {theme}: {one}" for one in page.evaluate(RUN, rules)]
    return found


def _headings(page: Page) -> list[str]:
    """One first heading, and no level left out on the way down."""
    levels = page.evaluate(LEVELS)
    found = [] if levels.count(1) == 1 else [f"{levels.count(1)} first headings"]
    skips = [later for earlier, later in pairwise(levels) if later > earlier + 1]
    return found + [f"a heading of level {level} below none of {level - 1}" for level in skips]


def _scripts(page: Page) -> list[str]:
    """Not too much, and nothing twice: a module is loaded under one name."""
    loaded = page.evaluate(SCRIPTS)
    size = sum(bytes_of for _, bytes_of in loaded)
    found = [f"{size} bytes of script"] if size > MOST_SCRIPT_BYTES else []
    names = Counter(HASH.sub("", name) for name, _ in loaded)
    return found + [f"{name} is loaded {times} times" for name, times in names.items() if times > 1]


def _sideways(page: Page, width: int) -> list[str]:
    reach = page.evaluate("document.documentElement.scrollWidth")
    return [f"{width} px: scrolls sideways to {reach} px"] if reach > width else []
