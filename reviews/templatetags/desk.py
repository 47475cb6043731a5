"""What the evidence's templates need: text of strangers made visible, and links that keep the lens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import template

from reviews.desk import places
from reviews.desk.evidence.lens import Lens
from reviews.desk.talk import Said
from reviews.desk.viewers import texts

register = template.Library()

register.filter("visible", texts.visible)
register.filter("spelled", texts.spelled)


@register.simple_tag
def looked(lens: Lens, **changes: object) -> str:
    """``?`` and the query string of the same look at the evidence, but for ``changes``."""
    query = lens.query(**changes)
    return f"?{query}" if query else "?"


@register.filter
def place_words(comment: Mapping[str, Any]) -> str:
    """Where a comment that was sent points; empty for the delivery as a whole."""
    return places.from_json(comment).words


@register.filter
def pins_on(notes: Sequence[Said], name: str) -> list[Said]:
    """The comments on a point of the screenshot ``name``."""
    return [each for each in notes if each.is_pin and each.note.place.name == name]
