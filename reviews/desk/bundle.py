"""All evidence of a delivery as one zip: stored, not compressed, under names that this server made.

Promises: nothing of an agent's names reaches the archive's paths; the archive is written while it
is sent, so that its size does not matter. ``manifest.json`` in it has the delivered names, digests
and the digest that was decided on; bytes that are not kept are named there as absent.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Generator, Iterator, Sequence
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_safe

from claims import evidence
from claims.canonical import Item
from claims.models import Delivery
from reviews.desk import page
from reviews.desk.bytes import ENDINGS, locked
from reviews.shell.rights import signed_in

CHUNK_BYTES = 256 * 1024
STAMP = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip knows: the same delivery gives the same archive."""


class _Outlet(io.RawIOBase):
    """What the zip is written to: it keeps only what has not been sent."""

    def __init__(self) -> None:
        self.waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self.waiting += piece
        return len(piece)

    def taken(self) -> bytes:
        """What was written since the last call."""
        piece = bytes(self.waiting)
        self.waiting.clear()
        return piece


@signed_in
@require_safe
def bundle(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """The archive, as an attachment."""
    one = page.opened(request, delivery)
    answer = StreamingHttpResponse(archive(one.delivery, one.items), content_type="application/zip")
    name = f"T-{one.delivery.task.number}-round-{one.delivery.round}.zip"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return locked(answer)  # type: ignore[return-value]


def archive(delivery: Delivery, items: Sequence[Item]) -> Iterator[bytes]:
    """The bytes of the archive, piece by piece."""
    outlet = _Outlet()
    listed = []
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_STORED, allowZip64=True) as whole:
        for number, item in enumerate(items, 1):
            name = f"{number:03d}-{item.kind}{ENDINGS.get(item.kind, '.bin')}"
            is_kept = yield from _added(whole, outlet, name, item)
            listed.append({"file": name if is_kept else None, **item.as_json()})
        body = {
            "deliveryId": str(delivery.pk),
            "round": delivery.round,
            "resultDigest": delivery.result_digest,
            "subjectDigest": delivery.subject_digest,
            "evidence": listed,
        }
        whole.writestr(zipfile.ZipInfo("manifest.json", STAMP), json.dumps(body, indent=2, ensure_ascii=True))
    yield outlet.taken()


def _added(whole: zipfile.ZipFile, outlet: _Outlet, name: str, item: Item) -> Generator[bytes, None, bool]:
    """One file of the archive; answers whether its bytes are kept."""
    try:
        stream = evidence.open_bytes(item.sha256)
    except OSError:
        return False
    with stream, whole.open(zipfile.ZipInfo(name, STAMP), "w", force_zip64=True) as entry:
        while piece := stream.read(CHUNK_BYTES):
            entry.write(piece)
            yield outlet.taken()
    yield outlet.taken()
    return True
