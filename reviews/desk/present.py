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
    is_open = delivery.state == DeliveryState.PENDING
    are_reviewing = is_open and all(_may_review(delivery, each) for each in here)
    return said([each.name for each in here], "reviewing" if are_reviewing else "reading")


def _may_review(delivery: Delivery, reader: people.Reader) -> bool:
    return Right.REVIEWER in reader.rights and reader.id not in delivery.makers


def said(names: Sequence[str], verb: str) -> str:
    """``Ben is also reviewing``: at most ``MOST_NAMED`` names, and how many more there are."""
    if not names:
        return ""
    parts = list(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        parts.append(f"{len(names) - MOST_NAMED} more")
    if len(parts) == 1:
        return f"{parts[0]} is also {verb}"
    return f"{', '.join(parts[:-1])} and {parts[-1]} are also {verb}"
