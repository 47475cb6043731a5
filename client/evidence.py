"""Evidence on its way out: files, texts, and the output of commands, known by their SHA-256."""

from __future__ import annotations

import hashlib
import mimetypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .problems import Stopped
from .working import Working

MOST_OUTPUT_BYTES = 32 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
_MEDIA_TYPES = {
    "diff": "text/x-diff",
    "command": "text/plain",
    "log": "text/plain",
    "test-report": "application/xml",
}


@dataclass(frozen=True)
class Item:
    """One piece of evidence. Its bytes are in ``content`` or in the file ``path``."""

    name: str
    kind: str
    sha256: str
    size: int
    media_type: str
    criteria: tuple[int, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    content: bytes | None = field(default=None, repr=False)
    path: Path | None = None

    def read(self) -> bytes:
        """The bytes, as they were when the item was made; raises ``ValueError`` when the file has changed since."""
        content = self.content if self.content is not None else (self.path or Path()).read_bytes()
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise ValueError(f"{self.path} has changed since it was added as evidence")
        return content

    def as_json(self) -> dict[str, Any]:
        """The item under its names of the manifest."""
        return {
            "name": self.name,
            "kind": self.kind,
            "sha256": self.sha256,
            "size": self.size,
            "mediaType": self.media_type,
            "criteria": list(self.criteria),
            "meta": dict(self.meta),
        }


@dataclass(frozen=True)
class Ran:
    """A command that was run: its exit code, its output, and whether that was cut."""

    exit_code: int
    output: bytes
    duration_ms: int
    is_cut: bool


class Evidence:
    """A manifest in the making; items keep the order in which they were added."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    def add_bytes(
        self,
        content: bytes,
        *,
        name: str,
        kind: str = "file",
        criteria: Sequence[int] = (),
        media_type: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> Item:
        """Bytes that are in memory."""
        item = Item(
            name, kind, hashlib.sha256(content).hexdigest(), len(content), _media_type(media_type, kind, name), tuple(criteria),
            meta or {}, content,
        )  # fmt: skip
        return self._add(item)

    def add_file(
        self,
        path: Path,
        *,
        name: str = "",
        kind: str = "file",
        criteria: Sequence[int] = (),
        media_type: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> Item:
        """A file on disk; it is read again when it is uploaded and must not have changed."""
        digest, size = hashlib.sha256(), 0
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
        item = Item(
            name or path.name, kind, digest.hexdigest(), size, _media_type(media_type, kind, path.name), tuple(criteria),
            meta or {}, None, path,
        )  # fmt: skip
        return self._add(item)

    def run(
        self,
        command: Sequence[str],
        *,
        name: str,
        work: Working | None = None,
        cwd: Path | None = None,
        criteria: Sequence[int] = (),
        timeout_seconds: float = 600,
    ) -> Ran:
        """Run a command and keep its output. Its process group is ended when the work must stop.

        Raises ``Stopped`` then, and ``subprocess.TimeoutExpired`` after ``timeout_seconds``.
        """
        started = datetime.now(UTC)
        ran = captured(command, cwd, work, timeout_seconds)
        meta = {
            "command": " ".join(command),
            "cwd": str(cwd or "."),
            "exitCode": ran.exit_code,
            "durationMs": ran.duration_ms,
            "startedAt": started.isoformat().replace("+00:00", "Z"),
            "cut": ran.is_cut,
        }
        self.add_bytes(ran.output, name=name, kind="command", criteria=criteria, meta=meta)
        return ran

    def _add(self, item: Item) -> Item:
        if any(item.name == other.name for other in self.items):
            raise ValueError(f"there is evidence named {item.name} already")
        self.items.append(item)
        return item


def captured(
    command: Sequence[str],
    cwd: Path | None,
    work: Working | None,
    timeout_seconds: float,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Run a command in a process group of its own, standard output and error in one stream."""
    begun = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, **environment} if environment else None,
    )
    kept = _Kept(process)
    try:
        while process.poll() is None:
            if work is not None and work.is_stopped:
                raise Stopped(work.reason)
            if time.monotonic() - begun > timeout_seconds:
                raise subprocess.TimeoutExpired(list(command), timeout_seconds)
            kept.wait(0.1)
    finally:
        _end_group(process)
        kept.wait(5.0)
    return Ran(process.returncode, bytes(kept.output), round((time.monotonic() - begun) * 1000), kept.is_cut)


class _Kept:
    """Reads a process's output in a thread, up to a limit, and reads on so that it never blocks."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.output, self.is_cut = bytearray(), False
        self._process = process
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _read(self) -> None:
        stream = self._process.stdout
        while stream is not None and (chunk := os.read(stream.fileno(), CHUNK_BYTES)):
            room = MOST_OUTPUT_BYTES - len(self.output)
            self.is_cut = self.is_cut or len(chunk) > room
            self.output += chunk[: max(0, room)]


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End whatever is left of a command's process group, then the command itself."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            break
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _media_type(given: str, kind: str, name: str) -> str:
    guessed, _ = mimetypes.guess_type(name)
    return given or _MEDIA_TYPES.get(kind) or guessed or "application/octet-stream"
