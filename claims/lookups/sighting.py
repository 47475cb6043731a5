"""What is asked after, and what was seen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from claims.vocabulary import Said

EXCERPT_CHARACTERS = 4_000
NOTE_CHARACTERS = 300

_EFFECT_ID = re.compile(r"[0-9a-f]{64}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_SLOT = re.compile(r"[a-z0-9_.-]{1,120}")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Subject:
    """The effect that is looked up.

    Raises ``ValueError`` for what no effect has. Whatever the caller read, what goes into an
    address, a ref or an environment is of this form.
    """

    effect_id: str
    payload_digest: str
    slot: str
    target: str

    def __post_init__(self) -> None:
        if _EFFECT_ID.fullmatch(self.effect_id) is None:
            raise ValueError("an effectId is 64 lower-case hex digits")
        if _DIGEST.fullmatch(self.payload_digest) is None:
            raise ValueError("a payload digest is sha256: and 64 lower-case hex digits")
        if _SLOT.fullmatch(self.slot) is None:
            raise ValueError("a slot is named in a-z, 0-9, '_', '.', '-'")
        if "\0" in self.target or len(self.target.encode()) > 20_000:
            raise ValueError("a target is text without NUL, of at most 20,000 bytes")


@dataclass(frozen=True, slots=True)
class Sighted:
    """One observation. ``how`` names the source; when it was begun is the caller's to store.

    ``receipt`` is JSON that PostgreSQL can store and a digest can be taken of. ``note`` is one
    line, for CANNOT_TELL the reason. ``is_authoritative`` is what the recipe says of its source.
    """

    said: Said
    how: str
    receipt: Mapping[str, object] = field(default_factory=dict)
    note: str = ""
    is_authoritative: bool = False


def excerpt(raw: bytes) -> str:
    """The beginning of what a source said, as text that can be stored and shown."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", raw.decode("utf-8", "replace"))[:EXCERPT_CHARACTERS]


def line(text: str) -> str:
    """Text of any kind as one short line."""
    return _UNPRINTABLE.sub(" ", " ".join(text.split()))[:NOTE_CHARACTERS]
