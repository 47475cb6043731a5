"""Bytes are kept whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.files import File

from claims import evidence
from claims.evidence.storage import WholeFiles, path_of

CONTENT = b"x" * 300_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def folder(settings: LazySettings, tmp_path: Path) -> Path:
    """A storage of this test's own, as the settings of production have it."""
    kept = dict(settings.STORAGES["evidence"])
    settings.STORAGES = {
        **settings.STORAGES,
        "evidence": {**kept, "OPTIONS": {**kept["OPTIONS"], "location": str(tmp_path)}},
    }
    return tmp_path


class FullDisk(File):  # type: ignore[type-arg]
    """A file whose bytes end in an error half-way."""

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        yield CONTENT[:1_000]
        raise OSError(errno.ENOSPC, "No space left on device")


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_disk_that_is_full_half_way_leaves_nothing_behind(folder: Path) -> None:
    storage = WholeFiles(location=str(folder))
    with pytest.raises(OSError, match="No space left"):
        storage.save(path_of(SHA256), FullDisk(io.BytesIO()))
    assert files_in(folder) == []


def test_bytes_that_were_cut_off_before_are_made_whole_by_the_next_upload(folder: Path) -> None:
    there = folder / path_of(SHA256)
    there.parent.mkdir(parents=True)
    there.write_bytes(CONTENT[:1_000])
    assert evidence.keep([CONTENT], SHA256, len(CONTENT)) == len(CONTENT)
    assert evidence.read_bytes(SHA256, len(CONTENT)) == (CONTENT, False)
    assert files_in(folder) == [there]


def test_the_same_bytes_are_one_file_that_only_its_owner_reads(folder: Path) -> None:
    for _ in range(2):
        evidence.keep([CONTENT[:7], CONTENT[7:]], SHA256, len(CONTENT))
    (kept,) = files_in(folder)
    assert kept.stat().st_mode & 0o777 == 0o600
    for inner in (kept.parent, kept.parent.parent):
        assert inner.stat().st_mode & 0o777 == 0o700
