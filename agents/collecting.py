"""What a run left, turned into evidence: the diff, commands run here, and the files the command handed in.

Promises: a path in delivery.json never leads out of the folder it belongs to, through ``..`` or
a symbolic link; sizes and numbers are bounded; what an agent says of an item can never make it
look as if a worker had run it (``ranBy`` is set here alone).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from agents.patience import insist
from claims import evidence, transitions
from claims.callers import Caller
from claims.canonical import Item, NotCanonical, canonical
from claims.fences import Fence
from claims.inputs import NAME, Input
from claims.outcomes import Refused
from claims.vocabulary import EvidenceKind

MOST_ITEMS = 200
FILE_BYTES = 64 * 1024 * 1024
DELIVERY_BYTES = 1024 * 1024
META_BYTES = 4 * 1024
CHUNK_BYTES = 256 * 1024
LONGEST_SUMMARY = 20_000
LONGEST_NEEDS = 140
LONGEST_CLAIM = 500

MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".xml": "application/xml",
    ".json": "application/json",
    ".diff": "text/x-diff",
    ".patch": "text/x-diff",
    ".log": "text/plain",
    ".txt": "text/plain",
    ".md": "text/markdown",
}


class CannotCollect(ValueError):
    """What the command left cannot be delivered; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class HandedIn:
    """delivery.json, read and bounded: what the agent says, and the files it points at."""

    summary: str = ""
    needs: str = ""
    claims: Mapping[str, str] = field(default_factory=dict)
    result: object = field(default_factory=dict)
    evidence: tuple[Mapping[str, Any], ...] = ()


def read_delivery(out: Path) -> HandedIn:
    """The command's delivery.json; one that is not there hands in nothing of its own.

    Raises ``CannotCollect`` when it is not what the contract says.
    """
    try:
        with open_inside(out, "delivery.json") as stream:
            text = stream.read(DELIVERY_BYTES + 1)
        body = json.loads(text.decode("utf-8")) if len(text) <= DELIVERY_BYTES else None
    except FileNotFoundError:
        return HandedIn()
    except (OSError, ValueError, RecursionError) as error:
        raise CannotCollect(f"delivery.json cannot be read: {error}") from error
    if not isinstance(body, dict):
        raise CannotCollect(f"delivery.json is not a JSON object of at most {DELIVERY_BYTES} bytes")
    listed, claims = body.get("evidence") or [], body.get("claims") or {}
    if (
        not isinstance(listed, list)
        or not all(isinstance(each, dict) for each in listed)
        or len(listed) > MOST_ITEMS
    ):
        raise CannotCollect(f"evidence in delivery.json is not a list of at most {MOST_ITEMS} objects")
    if not isinstance(claims, dict):
        raise CannotCollect("claims in delivery.json is not an object")
    result = body.get("result")
    return HandedIn(
        summary=_text(body.get("summary"), LONGEST_SUMMARY),
        needs=_text(body.get("needs"), LONGEST_NEEDS),
        claims={
            str(number): _text(line, LONGEST_CLAIM)
            for number, line in claims.items()
            if str(number).isdigit()
        },
        result=_canonical(result if result is not None else {}, "result"),
        evidence=tuple(listed),
    )


def open_inside(folder: Path, path: str) -> IO[bytes]:
    """Open a regular file below ``folder`` without following any symbolic link.

    Raises ``OSError`` for what is none, and ``CannotCollect`` for a path that leads out.
    """
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\0" in path or any(part in ("..", ".") for part in parts):
        raise CannotCollect(f"{path!r} leads out of its folder")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = inner
        found = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    finally:
        os.close(at)
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise CannotCollect(f"{path!r} is not a regular file")
    return os.fdopen(found, "rb")


class Collection:
    """The evidence of one attempt as it grows; every file is uploaded under the attempt's fence."""

    def __init__(self, caller: Caller, fence: Fence, specification: Input) -> None:
        self.caller, self.fence, self.specification = caller, fence, specification
        self.items: list[Item] = []
        self.refused: Refused | None = None

    def add_stream(
        self,
        stream: IO[bytes],
        name: str,
        kind: str,
        media_type: str,
        criteria: tuple[int, ...],
        meta: Mapping[str, Any],
    ) -> None:
        """Keep the bytes of a stream as one item.

        Raises ``CannotCollect`` when there are too many; a lost fence is kept in ``refused``.
        """
        sha256, size = _digest_of(stream, name)
        stream.seek(0)
        evidence.keep(_chunks(stream), sha256, FILE_BYTES)
        kept = insist(lambda: transitions.add_file(self.caller, self.fence, sha256, size, media_type))
        if isinstance(kept, Refused):
            self.refused = self.refused or kept
            return
        self.items.append(Item(self._free(name), kind, sha256, size, media_type, criteria, dict(meta)))

    def add_handed_in(self, out: Path, listed: tuple[Mapping[str, Any], ...]) -> None:
        """Keep what delivery.json points at. Raises ``CannotCollect`` for the first that cannot be."""
        for each in listed:
            path, kind = _text(each.get("path"), 1_000), _text(each.get("kind"), 40)
            if kind not in set(EvidenceKind):
                raise CannotCollect(f"evidence of the kind {kind!r} is not known")
            name = name_of(_text(each.get("name"), 200) or Path(path).stem)
            try:
                with open_inside(out, path) as stream:
                    self.add_stream(
                        stream,
                        name,
                        kind,
                        media_type_of(path),
                        self._numbers(each.get("criteria")),
                        _meta(each.get("meta"), name),
                    )
            except OSError as error:
                raise CannotCollect(f"the evidence {path!r} cannot be read: {error.strerror}") from error

    def criteria_for(self, kind: str, name: str, given: list[int]) -> tuple[int, ...]:
        """The criteria that an item made here stands for: as the task says, else where a proof names it, else all."""
        if given:
            return tuple(given)
        pattern = re.compile(rf"(?<![\w-])({re.escape(name)}|{re.escape(kind.replace('-', ' '))})(?![\w-])")
        everything = range(1, len(self.specification.acceptance) + 1)
        named = tuple(
            number for number in everything if pattern.search(self.specification.acceptance[number - 1].proof)
        )
        return named or tuple(everything)

    def _numbers(self, given: object) -> tuple[int, ...]:
        most = len(self.specification.acceptance)
        if not isinstance(given, list):
            return ()
        return tuple(sorted({each for each in given if type(each) is int and 1 <= each <= most}))

    def _free(self, name: str) -> str:
        """The name, or the next one that no item has: a name is used once in a manifest."""
        taken, count, free = {item.name for item in self.items}, 1, name
        while free in taken:
            count += 1
            free = f"{name[:110]}.{count}"
        return free


def name_of(text: str) -> str:
    """A text as the name of evidence: small letters, digits, dot, dash and underscore."""
    if NAME.fullmatch(text):
        return text
    return re.sub(r"[^a-z0-9_.-]+", "-", text.lower()).strip("-.")[:120] or "evidence"


def media_type_of(path: str) -> str:
    """By its ending; what is not known is only bytes."""
    return MEDIA_TYPES.get(PurePosixPath(path).suffix.lower(), "application/octet-stream")


def _digest_of(stream: IO[bytes], name: str) -> tuple[str, int]:
    seen, size = hashlib.sha256(), 0
    for chunk in _chunks(stream):
        size += len(chunk)
        if size > FILE_BYTES:
            raise CannotCollect(f"the evidence {name} is larger than {FILE_BYTES} bytes")
        seen.update(chunk)
    return seen.hexdigest(), size


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk


def _meta(given: object, name: str) -> dict[str, Any]:
    """What the agent says of an item; never who ran it."""
    if not isinstance(given, dict):
        return {}
    said = {str(key): value for key, value in given.items() if key != "ranBy"}
    kept = _canonical(said, f"meta of {name}")
    if len(canonical(kept)) > META_BYTES:
        raise CannotCollect(f"the meta of {name} is larger than {META_BYTES} bytes")
    return said


def _canonical(value: object, what: str) -> object:
    try:
        text = canonical(value)
    except NotCanonical as error:
        raise CannotCollect(f"{what} in delivery.json has no canonical form: {error}") from error
    if b"\\u0000" in text:
        raise CannotCollect(f"{what} in delivery.json holds a NUL character")
    return value


def _text(value: object, longest: int) -> str:
    if not isinstance(value, str):
        return ""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()[:longest]
