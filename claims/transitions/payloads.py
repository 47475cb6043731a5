"""Whether a JSON value that comes with an effect can be kept, and what its digest is."""

from __future__ import annotations

from claims import canonical
from claims.outcomes import Refused, Why

PAYLOAD_BYTES = 256 * 1024
RECEIPT_BYTES = 64 * 1024
NOTE_CHARACTERS = 2_000
ETAG_CHARACTERS = 200


def digest_of(payload: object) -> str | Refused:
    """The digest of a payload; MALFORMED where it has no canonical form, TOO_LARGE past 256 KiB."""
    return flaw_of(payload, "payload", PAYLOAD_BYTES) or canonical.digest(payload)


def flaw_of(value: object, name: str, most_bytes: int) -> Refused | None:
    """MALFORMED or TOO_LARGE for a value that cannot be kept as it is."""
    try:
        written = canonical.canonical(value)
    except canonical.NotCanonical as error:
        return Refused(Why.MALFORMED, f"The {name} has no canonical form: {error}.")
    if b"\\u0000" in written:
        return Refused(Why.MALFORMED, f"The {name} holds a NUL, which cannot be stored.")
    if len(written) > most_bytes:
        return Refused(Why.TOO_LARGE, f"The {name} is {len(written)} bytes; at most {most_bytes} are taken.")
    return None


def flaw_of_words(note: str, resource_etag: str = "") -> Refused | None:
    """MALFORMED for words that are longer than what is kept of them."""
    if len(note) > NOTE_CHARACTERS or "\0" in note:
        return Refused(Why.MALFORMED, f"The note has at most {NOTE_CHARACTERS} characters and no NUL.")
    if len(resource_etag) > ETAG_CHARACTERS or "\0" in resource_etag:
        return Refused(Why.MALFORMED, f"The resource's ETag has at most {ETAG_CHARACTERS} characters.")
    return None
