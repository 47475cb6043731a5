"""Content-addressed bytes in the evidence storage (Django's storage API).

Promises: what is kept under a digest has that digest, also after a full disk or a kill half-way;
keeping the same bytes twice is one file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

SPOOLED_BYTES = 1024 * 1024
DRAFT = "draft-"
"""How a file begins that is still being written; one that a kill left behind is no evidence."""


class EvidenceMismatch(ValueError):
    """The bytes are not the ones that were announced, or too many; they were dropped."""


class WholeFiles(FileSystemStorage):
    """Files on this machine that have their name only once they are whole and on the disk."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """The name itself: it says what the bytes are, so a file that is there already may be replaced."""
        return name

    def _save(self, name: str, content: File[Any]) -> str:
        path = Path(self.path(name))
        for folder in reversed([each for each in path.parents if not each.exists()]):
            folder.mkdir(mode=self.directory_permissions_mode or 0o700, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(prefix=DRAFT, dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft)
            raise
        return name


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
        path, storage = path_of(sha256), _storage()
        if not storage.exists(path) or storage.size(path) != size:
            storage.save(path, File(spool))
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
