"""Content-addressed bytes in the evidence storage (Django's storage API).

Promises: what is kept under a digest has that digest; keeping the same bytes twice is one file.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable
from typing import IO, Any

from django.core.files import File
from django.core.files.storage import Storage, storages

SPOOLED_BYTES = 1024 * 1024


class EvidenceMismatch(ValueError):
    """The bytes are not the ones that were announced, or too many; they were dropped."""


def _storage() -> Storage:
    return storages["evidence"]


def path_of(sha256: str) -> str:
    """Where bytes live: two levels of folders, so that none grows without bound."""
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


def keep(chunks: Iterable[bytes], sha256: str, limit_bytes: int) -> int:
    """Store bytes under their digest; returns their number.

    Raises ``EvidenceMismatch`` when their SHA-256 is not ``sha256`` (bare hex) or there are
    more than ``limit_bytes``.
    """
    with tempfile.SpooledTemporaryFile(max_size=SPOOLED_BYTES) as spool:
        seen, size = hashlib.sha256(), 0
        for chunk in chunks:
            size += len(chunk)
            if size > limit_bytes:
                raise EvidenceMismatch(f"The file is larger than {limit_bytes} bytes.")
            seen.update(chunk)
            spool.write(chunk)
        if seen.hexdigest() != sha256:
            raise EvidenceMismatch(f"The bytes have the digest {seen.hexdigest()}, not {sha256}.")
        spool.seek(0)
        if not _storage().exists(path_of(sha256)):
            _storage().save(path_of(sha256), File(spool))
    return size


def open_bytes(sha256: str) -> IO[Any]:
    """The bytes of a digest, for reading in parts.

    Raises ``FileNotFoundError`` when they are not kept.
    """
    return _storage().open(path_of(sha256), "rb")


def read_bytes(sha256: str, limit_bytes: int) -> tuple[bytes, bool]:
    """At most ``limit_bytes`` of the bytes, and whether there are more."""
    with open_bytes(sha256) as stream:
        head = stream.read(limit_bytes + 1)
    return head[:limit_bytes], len(head) > limit_bytes
