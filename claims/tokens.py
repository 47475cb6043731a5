"""Bearer tokens: ``fp_<prefix>_<secret>``, shown once, kept as a SHA-256 digest.

Promises: a token is compared in constant time, also where its prefix is unknown. Revoking, expiring
and removing from a pool hold from the next request on: a request reads the token's row by its unique
prefix, together with what its holder may see, or its transition reads the standing of a token that
was recognised a moment ago.
Whether a token has expired is judged by the database's clock. A token touches no claim.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection

from claims.callers import Actor
from claims.models import Token
from claims.vocabulary import ActorKind, Scope, TokenKind

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_ALPHABET = _LETTERS + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PREFIX_LENGTH = 12
SECRET_LENGTH = 43
"""43 characters of 62 are 256 bits."""

WRITTEN = re.compile(rf"fp_([a-z0-9]{{{PREFIX_LENGTH}}})_[A-Za-z0-9]{{{SECRET_LENGTH}}}", re.ASCII)
BELIEVED_SECONDS = 2.0
_MOST_BELIEVED = 10_000
_lately: dict[bytes, Known] = {}
_NOBODY = hashlib.sha256(b"no token has this digest").digest()

ALLOWED: dict[TokenKind, frozenset[Scope]] = {
    TokenKind.AGENT: frozenset({Scope.READ, Scope.CLAIM, Scope.DELIVER, Scope.TOOL}),
    TokenKind.ATTEMPT: frozenset({Scope.READ, Scope.DELIVER}),
    TokenKind.PERSON: frozenset({Scope.READ, Scope.PREPARE}),
}
"""Which scopes a token of each kind may have; none of them can decide (claim.v1 section 8).

The scope ``tool`` is a gateway's, which asks about the claims of others: only where it is asked for.
"""


@dataclass(frozen=True, slots=True)
class Minted:
    """A new token. ``token`` is the whole of it, and the only time it is seen."""

    id: int
    token: str
    expires_at: datetime | None

    def __repr__(self) -> str:
        return f"Minted(id={self.id}, token='fp_…')"


@dataclass(frozen=True, slots=True)
class Known:
    """Whose token was presented, and what that holder may see now.

    ``pools`` maps the name of each pool the holder works in to its id; ``attempt_id`` is set
    for a token that is good for one attempt. ``read_at`` is the database's clock at the read, and
    ``asked_at`` this process's monotonic clock (seconds) just before it.
    """

    token_id: int
    kind: TokenKind
    actor: Actor
    scopes: frozenset[str]
    pools: Mapping[str, int]
    attempt_id: UUID | None
    read_at: datetime
    asked_at: float

    def database_now(self) -> datetime:
        """What the database's clock says by now, if anything a little more."""
        return self.read_at + timedelta(seconds=time.monotonic() - self.asked_at)


def mint(
    *,
    agent_id: int | None = None,
    person_id: int | None = None,
    attempt_id: UUID | None = None,
    scopes: Iterable[Scope] | None = None,
    name: str = "",
    lifetime: timedelta | None = None,
    created_by_id: int | None = None,
) -> Minted:
    """A new token of an agent, of a person, or of one attempt of an agent.

    ``scopes`` is everything the kind allows when absent; ``lifetime`` counts from the
    database's clock, None means no end. Raises ``ValueError`` for a holder or scope that makes
    no token.
    """
    kind = _kind(agent_id, person_id, attempt_id)
    wanted = ALLOWED[kind] - {Scope.TOOL} if scopes is None else frozenset(scopes)
    if not wanted or not wanted <= ALLOWED[kind]:
        raise ValueError(f"a token of kind {kind} may have the scopes {', '.join(sorted(ALLOWED[kind]))}")
    prefix, secret = _random(_LETTERS, PREFIX_LENGTH), _random(_ALPHABET, SECRET_LENGTH)
    token = f"fp_{prefix}_{secret}"
    row = Token.objects.create(
        kind=kind.value,
        name=name,
        prefix=prefix,
        digest=_digest(token),
        agent_id=agent_id,
        person_id=person_id,
        attempt_id=attempt_id,
        scopes=sorted(scope.value for scope in wanted),
        created_by_id=created_by_id,
        expires_at=None if lifetime is None else _clock() + lifetime,
    )
    return Minted(row.id, token, row.expires_at)


def rotate(token_id: int, overlap: timedelta = timedelta()) -> Minted:
    """A new token like an old one, which ends after ``overlap``, or sooner where it would have.

    The new one ends when the old one was to end. Raises ``Token.DoesNotExist``, and ``ValueError``
    for one that has ended. Claims made with the old one stand; they belong to the agent.
    """
    old = Token.objects.get(id=token_id)
    now = _clock()
    if old.revoked_at is not None or (old.expires_at is not None and old.expires_at <= now):
        raise ValueError("a token that has ended is not rotated; make a new one")
    new = mint(
        agent_id=old.agent_id,
        person_id=old.person_id,
        attempt_id=old.attempt_id,
        scopes=[Scope(scope) for scope in old.scopes],
        name=old.name,
        lifetime=None if old.expires_at is None else old.expires_at - now,
        created_by_id=old.created_by_id,
    )
    Token.objects.filter(id=new.id).update(expires_at=old.expires_at)
    if overlap <= timedelta():
        revoke(token_id)
    elif old.expires_at is None or now + overlap < old.expires_at:
        Token.objects.filter(id=token_id).update(expires_at=now + overlap)
    return replace(new, expires_at=old.expires_at)


def revoke(token_id: int) -> bool:
    """End a token from the next request on; whether it was alive. Its holder's claims stand."""
    return Token.objects.filter(id=token_id, revoked_at__isnull=True).update(revoked_at=_clock()) == 1


def still_opens(token_id: int, pool_id: int) -> bool | None:
    """Whether the holder of a token that was recognised before is in the pool now; None for one that has ended."""
    with connection.cursor() as cursor:
        cursor.execute(_STILL, [pool_id, pool_id, token_id])
        row = cursor.fetchone()
    return None if row is None else bool(row[0])


def recognise(written: str) -> Known | None:
    """The holder of a token as it was presented; None for one that is not valid now.

    The work is the same for a wrong secret and an unknown prefix, so an answer's time does not
    say which prefixes exist.
    """
    found, asked_at = WRITTEN.fullmatch(written), time.monotonic()
    row = _read(found.group(1) if found else "")
    expected = bytes(row[2]) if row else _NOBODY
    is_same = hmac.compare_digest(_digest(written), expected)
    if row is None or not is_same or not row[3]:
        return None
    kind = TokenKind(row[1])
    actor = (
        Actor(ActorKind.PERSON, row[6], row[7])
        if kind is TokenKind.PERSON
        else Actor(ActorKind.AGENT, row[6], row[7])
    )
    pools = {name: int(number) for number, _, name in (each.partition(" ") for each in row[8])}
    return Known(row[0], kind, actor, frozenset(row[4]), pools, row[5], row[9], asked_at)


def recognise_lately(written: str) -> Known | None:
    """The holder of a token that this process recognised within the last ``BELIEVED_SECONDS``, or recognises now.

    For transitions that read the token's standing again, under its id, before they write anything.
    """
    digest = _digest(written)
    known = _lately.get(digest)
    if known is None or time.monotonic() - known.asked_at > BELIEVED_SECONDS:
        known = recognise(written)
        if len(_lately) >= _MOST_BELIEVED:
            _lately.clear()
        if known is not None:
            _lately[digest] = known
    return known


_FIND: LiteralString = """SELECT k.id, k.kind, k.digest,
 k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()) AND coalesce(u.is_active, true),
 k.scopes, k.attempt_id, coalesce(k.agent_id, k.person_id::bigint), coalesce(a.name, u.username),
 CASE WHEN k.agent_id IS NOT NULL
  THEN ARRAY(SELECT p.id || ' ' || p.name FROM claims_agentpool m JOIN claims_pool p ON p.id = m.pool_id WHERE m.agent_id = k.agent_id)
  ELSE ARRAY(SELECT DISTINCT p.id || ' ' || p.name FROM claims_membership m JOIN claims_pool p ON p.id = m.pool_id WHERE m.person_id = k.person_id)
 END, clock_timestamp()
 FROM claims_token k LEFT JOIN claims_agent a ON a.id = k.agent_id LEFT JOIN auth_user u ON u.id = k.person_id
 WHERE k.prefix = %s::text"""


_STILL: LiteralString = """SELECT
 EXISTS (SELECT 1 FROM claims_agentpool m WHERE m.agent_id = k.agent_id AND m.pool_id = %s::bigint)
  OR EXISTS (SELECT 1 FROM claims_membership m WHERE m.person_id = k.person_id AND m.pool_id = %s::bigint)
 FROM claims_token k LEFT JOIN auth_user u ON u.id = k.person_id WHERE k.id = %s::bigint AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
 AND coalesce(u.is_active, true)"""


def _read(prefix: str) -> Sequence[Any] | None:
    """The token's row. As the first statement of a request it stands in for Django's health check:

    it changes nothing, so on a connection that was lost meanwhile it is sent again on a new one.
    """
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        return _read_once(prefix)
    except (OperationalError, InterfaceError):
        if connection.in_atomic_block:
            raise
        connection.close()
        return _read_once(prefix)


def _read_once(prefix: str) -> Sequence[Any] | None:
    with connection.cursor() as cursor:
        cursor.execute(_FIND, [prefix])
        row: Sequence[Any] | None = cursor.fetchone()
    return row


def _kind(agent_id: int | None, person_id: int | None, attempt_id: UUID | None) -> TokenKind:
    if (agent_id is None) == (person_id is None):
        raise ValueError("a token has one holder: an agent or a person")
    if person_id is not None:
        if attempt_id is not None:
            raise ValueError("an attempt's token belongs to its agent")
        return TokenKind.PERSON
    return TokenKind.AGENT if attempt_id is None else TokenKind.ATTEMPT


def _random(alphabet: str, length: int) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


def _clock() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now
