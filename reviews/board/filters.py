"""The board's filter: what the address says, in words and as chips. Pure but for the rights of the request."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, QueryDict

from claims.selectors.board import COLUMNS, BoardFilter
from claims.selectors.seen import SeenPool
from claims.vocabulary import State
from reviews.shell.rights import pool_named, pools_of_request

FIELDS = ("pool", "state", "agent", "reviewer", "label")
"""What can be written as ``name:value`` in the search field; the rest of it is text."""
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Chip:
    """One active filter and the address without it."""

    name: str
    value: str
    without: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """The filter as read, the pool in view when there is one, and the chips."""

    filter: BoardFilter
    pool: SeenPool | None
    pools: tuple[SeenPool, ...]
    chips: tuple[Chip, ...]


def canonical(query: QueryDict) -> str | None:
    """The address when the search field holds ``agent:agent-7`` and the like; None when it holds plain text."""
    words = query.get("q", "").split()
    named = [word for word in words if word.partition(":")[0].lower() in FIELDS and word.partition(":")[2]]
    if not named:
        return None
    changed = query.copy()
    for word in named:
        name, _, value = word.partition(":")
        changed[name.lower()] = value
    changed["q"] = " ".join(word for word in words if word not in named)
    return _encoded(changed)


def wanted(request: HttpRequest) -> Wanted:
    """The filter of this request.

    Raises ``Http404`` for a pool the person may not see and for a state there is none of.
    """
    query = request.GET
    values = {name: query.get(name, "").strip()[:LONGEST].replace("\x00", "") for name in (*FIELDS, "q")}
    pools = pools_of_request(request)
    pool = pool_named(request, values["pool"]) if values["pool"] else None
    state = values["state"].upper()
    if state and state not in COLUMNS and state not in State.__members__:
        raise Http404(f"There is no state {values['state']}.")
    shown = (pool,) if pool else pools
    return Wanted(
        filter=BoardFilter(
            tuple(p.id for p in shown),
            state,
            values["agent"],
            values["reviewer"],
            values["label"],
            values["q"],
        ),
        pool=pool,
        pools=pools,
        chips=tuple(_chips(query, values)),
    )


def _chips(query: QueryDict, values: dict[str, str]) -> list[Chip]:
    chips = []
    for name in ("state", "agent", "reviewer", "label", "q"):
        if values[name]:
            rest = query.copy()
            rest.pop(name, None)
            chips.append(Chip("text" if name == "q" else name, values[name], _encoded(rest)))
    return chips


def _encoded(query: QueryDict) -> str:
    kept = query.copy()
    for name in list(kept):
        if not kept[name] or name == "before":
            kept.pop(name)
    return f"?{kept.urlencode()}"
