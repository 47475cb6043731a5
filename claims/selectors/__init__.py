"""Every read for pages, API and workers. Nothing here locks or writes."""

from claims.selectors.contract import (
    Review,
    claimed_by,
    criteria_count,
    item_from_json,
    last_review,
    manifest,
    may_switch_off,
    specification_of,
)

__all__ = [
    "Review",
    "claimed_by",
    "criteria_count",
    "item_from_json",
    "last_review",
    "manifest",
    "may_switch_off",
    "specification_of",
]
