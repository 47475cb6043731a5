"""Evidence bytes in and out, and deliveries.

Promises: bytes are kept only when their SHA-256 is the one in the address; they leave as an
attachment that no browser interprets: ``nosniff``, a sandboxing policy, and a name the server
made. The agent's own media type is kept as data and never sent as the type of a page.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from uuid import UUID

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from claims import evidence, transitions
from claims.api import answers, read_answers, rendering
from claims.api.application import api
from claims.api.door import Door, Visit, declared_length, refuse_encoding, visit_of
from claims.api.headers import UPLOAD
from claims.api.problems import Refusal, refuse
from claims.evidence import EvidenceMismatch
from claims.fences import Fence
from claims.outcomes import Refused, Why
from claims.selectors import api as selectors
from claims.vocabulary import Scope

MAX_FILE_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
SANDBOX = "default-src 'none'; sandbox; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_MEDIA_TYPE = re.compile(
    r"[a-zA-Z0-9!#$&^_.+-]{1,60}/[a-zA-Z0-9!#$&^_.+-]{1,60}(?:; ?[a-zA-Z0-9=\"_.-]{1,70})?", re.ASCII
)
_FENCE_PART = re.compile(r"\s*(epoch|generation|cancel)=([0-9]{1,16})\s*", re.ASCII)
_DOWNLOAD = {
    "responses": {
        200: {"description": "The bytes, as an attachment", "content": {"application/octet-stream": {}}}
    }
}


@api.put(
    "/attempts/{attempt_id}/files/{sha256}",
    auth=Door(Scope.DELIVER),
    response={201: answers.FileAnswer, 200: answers.FileAnswer},
    openapi_extra=UPLOAD,
    tags=["results"],
)
def put_file(request: HttpRequest, attempt_id: str, sha256: str) -> HttpResponse:
    """Keep bytes as evidence of this attempt: 201, or 200 when it has them already."""
    visit = visit_of(request)
    fence = _fence_of_header(visit, request)
    if _SHA256.fullmatch(sha256) is None:
        raise Refusal(
            Why.MALFORMED, "The address names the bytes by 64 lower-case hexadecimal digits of their SHA-256."
        )
    refuse_encoding(request)
    media_type = _media_type(request)
    visit.body_digest = _digest_of_headers(fence, media_type)
    caller = visit.caller(key_required=False)
    size = _keep(request, sha256)
    outcome = transitions.add_file(caller, fence, sha256, size, media_type)
    if isinstance(outcome, Refused):
        return refuse(outcome, visit.request_id)
    return rendering.write(
        {"sha256": outcome.sha256, "size": outcome.size}, visit.request_id, 201 if outcome.is_new else 200
    )


@api.get(
    "/attempts/{attempt_id}/files/{sha256}", auth=Door(Scope.READ), openapi_extra=_DOWNLOAD, tags=["results"]
)
def attempt_file(request: HttpRequest, attempt_id: str, sha256: str) -> HttpResponseBase:
    """Bytes that an attempt has as evidence."""
    visit = visit_of(request)
    if visit.attempt is None:
        raise Refusal(Why.NOT_FOUND)
    return _bytes(visit, visit.attempt.attempt_id, sha256)


@api.get(
    "/deliveries/{delivery_id}", auth=Door(Scope.READ), response=read_answers.DeliveryAnswer, tags=["results"]
)
def delivery(request: HttpRequest, delivery_id: str) -> HttpResponse:
    """A delivery: its evidence, the server's facts, and the decision with its verdicts and comments."""
    visit = visit_of(request)
    if visit.delivery_id is None:
        raise Refusal(Why.NOT_FOUND)
    return rendering.write(selectors.delivery(visit.delivery_id), visit.request_id)


@api.get(
    "/deliveries/{delivery_id}/files/{sha256}",
    auth=Door(Scope.READ),
    openapi_extra=_DOWNLOAD,
    tags=["results"],
)
def delivery_file(request: HttpRequest, delivery_id: str, sha256: str) -> HttpResponseBase:
    """Bytes that a delivery's manifest names."""
    visit = visit_of(request)
    attempt_id = (
        selectors.manifest_has(visit.delivery_id, sha256)
        if visit.delivery_id and _SHA256.fullmatch(sha256)
        else None
    )
    if attempt_id is None:
        raise Refusal(Why.NOT_FOUND)
    return _bytes(visit, attempt_id, sha256)


def _bytes(visit: Visit, attempt_id: UUID, sha256: str) -> HttpResponseBase:
    found = selectors.file_of_attempt(attempt_id, sha256) if _SHA256.fullmatch(sha256) else None
    if found is None:
        raise Refusal(Why.NOT_FOUND)
    try:
        stream = evidence.open_bytes(sha256)
    except FileNotFoundError as error:
        raise Refusal(Why.NOT_FOUND, "These bytes are no longer kept.") from error
    response = FileResponse(
        stream, as_attachment=True, filename=f"{sha256}.bin", content_type="application/octet-stream"
    )
    response["Content-Length"] = str(found[0])
    response["Content-Security-Policy"] = SANDBOX
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Cache-Control"] = "private, no-store"
    response["Fencepost-Media-Type"] = found[1]
    response["X-Request-Id"] = visit.request_id
    return response


def _fence_of_header(visit: Visit, request: HttpRequest) -> Fence:
    header = request.headers.get("Fencepost-Fence")
    if visit.attempt is None:
        raise Refusal(Why.NOT_FOUND)
    if visit.attempt.agent_id != visit.actor.id or visit.is_person:
        raise Refusal(Why.NOT_FOUND)
    numbers: dict[str, int] = {}
    for part in (header or "").split(",") if header else []:
        found = _FENCE_PART.fullmatch(part)
        if found is None or found.group(1) in numbers:
            raise Refusal(Why.MALFORMED, "Fencepost-Fence is written like: epoch=3, generation=7, cancel=0.")
        numbers[found.group(1)] = int(found.group(2))
    if not {"epoch", "generation"} <= numbers.keys():
        raise Refusal(
            Why.UPGRADE_REQUIRED,
            "The upload lacks the header Fencepost-Fence: epoch=3, generation=7, cancel=0.",
        )
    if "cancel" not in numbers:
        raise Refusal(Why.MALFORMED, "Fencepost-Fence lacks cancel.")
    return Fence(
        visit.attempt.task_id,
        visit.attempt.attempt_id,
        numbers["epoch"],
        numbers["generation"],
        numbers["cancel"],
    )


def _digest_of_headers(fence: Fence, media_type: str) -> bytes:
    """What a key stands for beside the address, which names the bytes: the fence and the media type."""
    numbers = f"{fence.scheduler_epoch} {fence.claim_generation} {fence.cancel_generation}"
    return hashlib.sha256(f"{numbers} {media_type}".encode()).digest()


def _keep(request: HttpRequest, sha256: str) -> int:
    declared = declared_length(request)
    if declared > MAX_FILE_BYTES:
        raise Refusal(Why.TOO_LARGE, f"A file is at most {MAX_FILE_BYTES} bytes.")
    try:
        size = evidence.keep(_chunks(request), sha256, MAX_FILE_BYTES)
    except EvidenceMismatch as error:
        raise Refusal(Why.MALFORMED, str(error)) from error
    except OSError as error:
        raise Refusal(Why.BUSY, "The bytes could not be stored; nothing was changed.") from error
    if size != declared:
        raise Refusal(Why.MALFORMED, "The body is shorter than its Content-Length.")
    return size


def _chunks(request: HttpRequest) -> Iterator[bytes]:
    while chunk := request.read(CHUNK_BYTES):
        yield chunk


def _media_type(request: HttpRequest) -> str:
    given = (request.headers.get("Content-Type") or "").strip() or "application/octet-stream"
    if _MEDIA_TYPE.fullmatch(given) is None:
        raise Refusal(Why.MALFORMED, "Content-Type is not a media type.")
    return given
