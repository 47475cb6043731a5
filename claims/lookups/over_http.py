"""The look-up over HTTP: one GET of an address that names the effect.

Promises: it reaches only hosts of FENCEPOST_LOOKUP_HOSTS, follows no redirect, uses no proxy and
sends no credentials; the time limit holds for all of it, also against an answer that comes byte by
byte; no more than ``BODY_BYTES`` is read. Only the two statuses of the recipe tell anything.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from urllib.parse import quote

import httpx
from django.conf import settings

from claims.lookups.recipes import HttpLookup, filled
from claims.lookups.sighting import EXCERPT_CHARACTERS, Sighted, Subject, excerpt, line
from claims.vocabulary import Said

BODY_BYTES = 64 * 1024
ETAG_CHARACTERS = 500
HEADERS = {"User-Agent": "Fencepost", "Accept-Encoding": "identity", "Cache-Control": "no-cache"}


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: httpx.Headers
    body: bytes
    is_cut: bool


def look_up(recipe: HttpLookup, subject: Subject) -> Sighted:
    """Ask the address and read its status. Must not be called from a running event loop."""
    url = httpx.URL(address(recipe, subject))
    how = f"GET {url}"
    if not _is_allowed(url):
        return _cannot_tell(recipe, how, _why_not(url))
    try:
        answer = _ask(url, recipe.timeoutSeconds)
    except (TimeoutError, httpx.TimeoutException):
        return _cannot_tell(recipe, how, f"no whole answer within {recipe.timeoutSeconds} s")
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return _cannot_tell(recipe, how, f"no answer: {error or type(error).__name__}")
    return _read(recipe, how, answer)


def address(recipe: HttpLookup, subject: Subject) -> str:
    """The address of the recipe with the effect's ids in it, percent-encoded (RFC 3986 section 2.1)."""
    values = {"effectId": subject.effect_id, "payloadDigest": quote(subject.payload_digest, safe="")}
    return filled(recipe.url, values)


def _read(recipe: HttpLookup, how: str, answer: _Answer) -> Sighted:
    body = excerpt(answer.body)
    receipt: dict[str, object] = {
        "status": answer.status,
        "body": body,
        "bodyIsCut": answer.is_cut or len(body) == EXCERPT_CHARACTERS,
    }
    if "etag" in answer.headers:
        receipt["resourceEtag"] = excerpt(answer.headers["etag"].encode())[:ETAG_CHARACTERS]

    if answer.status == recipe.found:
        return Sighted(Said.HAPPENED, how, receipt, "", recipe.authoritative)
    if answer.status != recipe.notFound:
        reason = f"it answered {answer.status}, which is neither {recipe.found} nor {recipe.notFound}"
        if 300 <= answer.status <= 399:
            reason = f"it answered {answer.status}; redirects are not followed"
        return Sighted(Said.CANNOT_TELL, how, receipt, reason, recipe.authoritative)
    # A cache may keep a 404 (RFC 9111 section 4.2.2); an old one was true before the call, not after.
    age = answer.headers.get("age", "0").strip()
    if age != "0":
        reason = f"it answered {answer.status} from a cache, {line(age)} s old"
        return Sighted(Said.CANNOT_TELL, how, receipt, reason, recipe.authoritative)
    return Sighted(Said.DID_NOT_HAPPEN, how, receipt, "", recipe.authoritative)


def _is_allowed(url: httpx.URL) -> bool:
    """A host alone stands for the usual port of the scheme; another port has to be named."""
    authority = url.netloc.decode("ascii")
    named = {authority}
    if url.port is None:
        named.add(f"{authority}:{443 if url.scheme == 'https' else 80}")
    return not named.isdisjoint(settings.FENCEPOST_LOOKUP_HOSTS)


def _why_not(url: httpx.URL) -> str:
    if not settings.FENCEPOST_LOOKUP_HOSTS:
        return "no host is allowed; FENCEPOST_LOOKUP_HOSTS is empty"
    return f"the host {url.netloc.decode('ascii')} is not allowed by FENCEPOST_LOOKUP_HOSTS"


def _ask(url: httpx.URL, timeout_seconds: int) -> _Answer:
    """Run the request in a loop of its own, whose limit covers what a socket's time-out does not.

    The loop is closed by hand: ``asyncio.run`` would wait for a name look-up that hangs in its thread.
    """
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_within(url, timeout_seconds))
    finally:
        loop.close()


async def _within(url: httpx.URL, timeout_seconds: int) -> _Answer:
    async with asyncio.timeout(timeout_seconds):
        return await _get(url, timeout_seconds)


async def _get(url: httpx.URL, timeout_seconds: int) -> _Answer:
    trust = ssl.create_default_context()
    async with (
        httpx.AsyncClient(
            trust_env=False, follow_redirects=False, timeout=timeout_seconds, verify=trust, headers=HEADERS
        ) as client,
        client.stream("GET", url) as answer,
    ):
        body, is_cut = bytearray(), False
        async for chunk in answer.aiter_raw():
            body += chunk
            if len(body) > BODY_BYTES:
                is_cut = True
                break
        return _Answer(answer.status_code, answer.headers, bytes(body[:BODY_BYTES]), is_cut)


def _cannot_tell(recipe: HttpLookup, how: str, reason: str) -> Sighted:
    return Sighted(Said.CANNOT_TELL, how, {}, line(reason), recipe.authoritative)
