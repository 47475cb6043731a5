"""How times, counts, digests and states are said on pages.

Promises: the same words on the server and in static/js/times.js; a duration always has its
unit joined to its number by a no-break space; digests are shown by their first and last four
characters. Pure: no clock, no database.
"""

from __future__ import annotations

from dataclasses import dataclass

NBSP = "\N{NO-BREAK SPACE}"
COUNT_LIMIT = 10_000
"""Lists are counted up to this many rows; beyond it a page says "10,000+"."""

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def _unit(number: int, name: str) -> str:
    return f"{number}{NBSP}{name}"


def span(seconds: float) -> str:
    """A duration in words: ``45 s``, ``11 min``, ``3 h 12 min``, ``14 h``, ``2 days``. Negative is 0 s."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return _unit(whole, "s")
    if whole < _HOUR:
        return _unit(whole // _MINUTE, "min")
    if whole < _DAY:
        hours, minutes = whole // _HOUR, whole % _HOUR // _MINUTE
        return f"{_unit(hours, 'h')} {_unit(minutes, 'min')}" if minutes and hours < 10 else _unit(hours, "h")
    days = whole // _DAY
    return _unit(days, "day" if days == 1 else "days")


def bounded(count: int) -> str:
    """A count as a page says it: ``9``, ``1,204``, ``10,000+``."""
    return f"{COUNT_LIMIT:,}+" if count > COUNT_LIMIT else f"{count:,}"


def short_digest(digest: str) -> str:
    """``sha256:`` kept, then the first and last four characters: ``sha256:a07f…66b2``."""
    scheme, _, rest = digest.rpartition(":")
    body = rest if len(rest) <= 9 else f"{rest[:4]}…{rest[-4:]}"
    return f"{scheme}:{body}" if scheme else body


def initials(name: str) -> str:
    """Two letters for a person: of the first and last word, or the first two of one word."""
    words = name.split() or ["?"]
    letters = words[0][:1] + words[-1][:1] if len(words) > 1 else words[0][:2]
    return letters.upper()


@dataclass(frozen=True, slots=True)
class Sign:
    """A state as people see it: ``code`` is the value of data-s, ``icon`` its sign, ``word`` its name."""

    code: str
    icon: str
    word: str


SIGNS: dict[str, Sign] = {
    "OPEN": Sign("OPEN", "open", "Open"),
    "CLAIMED": Sign("CLAIMED", "claimed", "Claimed"),
    "QUIET": Sign("QUIET", "quiet", "Quiet"),
    "DELIVERED": Sign("DELIVERED", "delivered", "Delivered"),
    "CHANGES": Sign("CHANGES", "changes", "Changes requested"),
    "DONE": Sign("DONE", "done", "Done"),
    "HELD": Sign("HELD", "held", "Held"),
    "BLOCKED": Sign("BLOCKED", "blocked", "Blocked"),
    "CANCELLED": Sign("CANCELLED", "cancelled", "Cancelled"),
    "SUPERSEDED": Sign("SUPERSEDED", "cancelled", "Superseded"),
    "FENCED": Sign("FENCED", "fenced", "Fenced"),
    "PREPARED": Sign("OPEN", "open", "Prepared"),
    "EXECUTING": Sign("CLAIMED", "claimed", "Executing"),
    "UNKNOWN": Sign("UNKNOWN", "unknown", "Unknown"),
    "COMMITTED": Sign("DONE", "done", "Committed"),
    "ABANDONED": Sign("CANCELLED", "cancelled", "Abandoned"),
    "WRITTEN_OFF": Sign("CANCELLED", "cancelled", "Written off"),
    "DANGER": Sign("DANGER", "warn", "Refused"),
}
"""Every state with a colour, a sign and a word: of tasks (claim.v1 section 2; Quiet and Changes are Claimed
as people see it) and of effects (section 5)."""


def seen_state(state: str, *, quiet: bool = False, sent_back: bool = False) -> str:
    """The state as a page shows it: a claim whose lease has run out is QUIET, one after a request is CHANGES."""
    if state != "CLAIMED":
        return state
    if quiet:
        return "QUIET"
    return "CHANGES" if sent_back else "CLAIMED"
