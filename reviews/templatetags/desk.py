"""What the evidence's templates need: text of strangers made visible, and links that keep the lens."""

from __future__ import annotations

from django import template

from reviews.desk.evidence.lens import Lens
from reviews.desk.viewers import texts

register = template.Library()

register.filter("visible", texts.visible)
register.filter("spelled", texts.spelled)


@register.simple_tag
def looked(lens: Lens, **changes: object) -> str:
    """``?`` and the query string of the same look at the evidence, but for ``changes``."""
    query = lens.query(**changes)
    return f"?{query}" if query else "?"
