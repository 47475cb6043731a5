"""Who else has the decision page of a delivery open, or had it in the last two minutes.

Promises: kept in the cache alone, so that losing it costs a sentence and nothing else; nobody is told
of themselves; only those are named who may see the pool now. Not promised: that who closed the page
is gone at once. What somebody has typed is never said: drafts are private.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import cast
from uuid import UUID

from django.core.cache import caches

from claims.models import Delivery
from claims.selectors import people
from claims.vocabulary import DeliveryState, Right
from config.caches import ForgivingRedisCache

LASTS_SECONDS = 120
"""An open page asks again each minute (three beats of its socket): one missed answer makes nobody leave."""
MOST_NAMED = 3


def renew(delivery_id: UUID, person_id: int) -> list[int]:
    """This person is here now; the ids of the others, those who came last first. One round trip to the cache."""
    cache = cast(ForgivingRedisCache, caches["default"])
    found = cache.seen_lately(f"present:{delivery_id}", str(person_id), time.time(), LASTS_SECONDS)
    return [int(each) for each in found if each != str(person_id)]


def others(delivery: Delivery, person_id: int) -> str:
    """Who else is here, in a sentence; empty when nobody is. Renews that this person is.

    At most one query, none where nobody else is here.
    """
    ids = renew(delivery.pk, person_id)
    known = people.readers(delivery.pool_id, ids)
    here = [known[each] for each in ids if each in known]
    reviewing = [each.name for each in here if _may_review(delivery, each)]
    return said(reviewing, [each.name for each in here if not _may_review(delivery, each)])


def _may_review(delivery: Delivery, reader: people.Reader) -> bool:
    """Whether the round waits for the likes of them; what they really may do, they are told on their own page."""
    is_open = delivery.state == DeliveryState.PENDING
    return is_open and Right.REVIEWER in reader.rights and reader.id not in delivery.makers


def said(reviewing: Sequence[str], reading: Sequence[str]) -> str:
    """``Ben is also reviewing, Noor is reading``: at most ``MOST_NAMED`` names, and how many more there are."""
    left = MOST_NAMED - min(len(reviewing), MOST_NAMED)
    also = "" if reviewing else "also "
    parts = [
        _clause(reviewing, MOST_NAMED, "also reviewing"),
        _clause(reading, left, f"{also}reading"),
    ]
    return ", ".join(part for part in parts if part)


def _clause(names: Sequence[str], most: int, verb: str) -> str:
    parts, more = list(names[:most]), len(names) - most
    if more > 0:
        parts.append(f"{more} more")
    if not parts:
        return ""
    *first, last = parts
    words = f"{', '.join(first)} and {last}" if first else last
    return f"{words} {'is' if len(names) == 1 else 'are'} {verb}"
