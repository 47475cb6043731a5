"""What templates draw with: icons, states, times, fences, digests. Listed in templates/README.md."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import structlog
from django import template
from django.http import QueryDict
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from claims.selectors.effects import ObservationSeen
from claims.vocabulary import Said, Via
from reviews.shell import words

register = template.Library()

register.filter("span", words.span)
register.filter("bounded", words.bounded)
register.filter("short_digest", words.short_digest)
register.filter("initials", words.initials)


@register.simple_tag
def request_id() -> str:
    """The id of the request being answered, also where a page is drawn without its request."""
    return str(structlog.contextvars.get_contextvars().get("request_id", "not known"))


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of templates/_icons.html, hidden from screen readers: a word stands beside it."""
    return format_html('<svg class="i" aria-hidden="true"><use href="#i-{}"/></svg>', name)


@register.simple_tag
def state(code: str, word: str = "") -> SafeString:
    """A state with sign, word and tint; ``word`` replaces the usual one ("Quiet for 6 min")."""
    sign = words.SIGNS[code]
    return format_html(
        '<span class="state" data-s="{}">{}{}</span>', sign.code, icon(sign.icon), word or sign.word
    )


@register.simple_tag
def flag(code: str, sign: str, word: str) -> SafeString:
    """The same without a box, for lists; ``sign`` names the icon."""
    return format_html('<span class="flag" data-s="{}">{}{}</span>', code, icon(sign), word)


def _exact(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%-d %b %Y, %H:%M:%S UTC")


def _time(at: datetime, text: str, span: str = "") -> SafeString:
    iso = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if span:
        return format_html(
            '<time datetime="{}" title="{}" data-span="{}">{}</time>', iso, _exact(at), span, text
        )
    return format_html('<time datetime="{}" title="{}">{}</time>', iso, _exact(at), text)


@register.simple_tag
def since(at: datetime | None) -> SafeString | str:
    """How long ago, as a duration without "ago": the sentence around it says what it measures."""
    if at is None:
        return "–"
    return _time(at, words.span((timezone.now() - at).total_seconds()), "since")


@register.simple_tag
def until(at: datetime | None) -> SafeString | str:
    """How long until ``at``, as a duration; 0 s when it has passed."""
    if at is None:
        return "–"
    return _time(at, words.span((at - timezone.now()).total_seconds()), "until")


@register.simple_tag
def clock(at: datetime | None, seconds: bool = False) -> SafeString | str:
    """The time of day in UTC, with the date when it is another day's; exact time on hover."""
    if at is None:
        return "–"
    utc = at.astimezone(UTC)
    same_day = utc.date() == timezone.now().astimezone(UTC).date()
    day = "" if same_day else utc.strftime("%-d %b ")
    return _time(at, day + utc.strftime("%H:%M:%S" if seconds else "%H:%M"))


@register.simple_tag
def fence(epoch: int | None = None, generation: int | None = None, cancel: int | None = None) -> SafeString:
    """``epoch 13 · gen 5 · cancel 0`` behind a post; what is None is left out."""
    parts = [("epoch", epoch), ("gen", generation), ("cancel", cancel)]
    text = " · ".join(f"{name}{words.NBSP}{number}" for name, number in parts if number is not None)
    return format_html('<span class="fence">{}</span>', text)


@register.inclusion_tag("_digest.html")
def digest(value: str, label: str = "") -> dict[str, str]:
    """A digest by its first and last characters; opens the whole value with a copy button."""
    return {"value": value, "label": label, "short": words.short_digest(value)}


@register.simple_tag
def meter(code: str, share: float) -> SafeString:
    """A thin bar of 0 to 1 in the colour of a state. The words beside it carry the meaning."""
    width = round(max(0.0, min(1.0, share)) * 100)
    return format_html(
        '<svg class="meter" data-s="{}" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">'
        '<path d="M0 0h{}v3H0z"/></svg>',
        code,
        width,
    )


@register.simple_tag(takes_context=True)
def query(context: dict[str, Any], **changes: Any) -> str:
    """The query string of this page with some parameters changed; None or "" removes one."""
    request = context.get("request")
    current = request.GET.copy() if request is not None else QueryDict(mutable=True)
    for name, value in changes.items():
        current.pop(name, None)
        if value not in (None, ""):
            current[name] = str(value)
    encoded = current.urlencode()
    return f"?{encoded}" if encoded else "?"


@register.filter
def plural(count: int, forms: str) -> str:
    """``3|plural:"delivery,deliveries"``: the word only, without the number."""
    one, many = forms.split(",")
    return one if count == 1 else many


DECISION_WORDS = {"ACCEPTED": "accepted", "CHANGES_REQUESTED": "sent back", "REJECTED": "rejected"}
DECIDED_IT = {"ACCEPTED": "accepted it", "CHANGES_REQUESTED": "sent it back", "REJECTED": "rejected it"}


@register.filter
def decision_word(decision: Any) -> str:
    """What a decision was, in a word or two, for a sentence."""
    return DECISION_WORDS[decision.kind]


@register.filter
def decided_it(decision: Any) -> str:
    """What the person did with the round, after their name."""
    return DECIDED_IT[decision.kind]


MARK_WORDS = {
    "STEPPED_IN": "stepped in for the named reviewer",
    "DEPUTY": "as deputy for the named reviewer",
    "SELF_REVIEW": "reviewed an agent of their own",
    "SCOPE_VIOLATION": "an excluded file was touched",
}


@register.filter
def mark_word(mark: str) -> str:
    """What was out of the ordinary about a decision; kept on the record for ever."""
    return MARK_WORDS.get(mark, mark.lower().replace("_", " "))


SAYINGS = {
    "HAPPENED": "It happened",
    "DID_NOT_HAPPEN": "It did not happen",
    "CANNOT_TELL": "Cannot tell",
}
VIA_WORDS = {
    "CONFIRM": "confirming its call",
    "UNKNOWN": "not knowing its call's answer",
    "HAND_BACK": "never having got its permit",
    "LOOK_UP": "by the declared look-up",
    "OPERATOR": "as an operator",
}


@register.filter
def saying(said: str) -> str:
    """What an observation says, as a sentence without its point."""
    return SAYINGS[said]


@register.filter
def via_word(via: str) -> str:
    """How an observation was made."""
    return VIA_WORDS[via]


@register.filter
def underspace(text: str) -> str:
    """``non_replayable`` as people read it: ``non replayable``."""
    return str(text).replace("_", " ")


@register.filter
def weight_word(seen: ObservationSeen) -> str:
    """What an observation came to: a word of doubt that was applied puts an effect in doubt."""
    if seen.is_applied:
        return (
            "put it in doubt" if seen.said == Said.CANNOT_TELL and seen.via != Via.OPERATOR else "settled it"
        )
    return "settled nothing by itself" if seen.is_strong else "too weak to settle it"
