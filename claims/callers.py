"""Who calls a verb, through which door, under which idempotency key."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4

from claims.vocabulary import ActorKind, Source


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, an agent, or the server itself. ``id`` is 0 for the server."""

    kind: ActorKind
    id: int
    name: str

    def __str__(self) -> str:
        return self.name


SYSTEM = Actor(ActorKind.SYSTEM, 0, "fencepost")


def new_request_id() -> str:
    """A request id that is short enough to read out on the telephone."""
    return f"req_{uuid4().hex[:16]}"


@dataclass(frozen=True, slots=True)
class Caller:
    """One call: ``key`` and ``request_digest`` are the idempotency key and what it stands for.

    ``token_id`` is of a token whose standing was not read just now: the transition reads it again.
    """

    actor: Actor
    source: Source
    request_id: str = field(default_factory=new_request_id)
    key: str | None = None
    request_digest: str | None = None
    token_id: int | None = None

    @property
    def is_agent(self) -> bool:
        return self.actor.kind is ActorKind.AGENT

    @property
    def is_person(self) -> bool:
        return self.actor.kind is ActorKind.PERSON

    @property
    def is_at_hand(self) -> bool:
        """A person in the browser or on the server's command line: no token can be that."""
        return self.is_person and self.source in (Source.WEB, Source.COMMAND)

    @property
    def is_server(self) -> bool:
        """The server itself, as when it sows the demo's tasks."""
        return self.actor.kind is ActorKind.SYSTEM


def sweep_caller() -> Caller:
    """The server itself, on its round."""
    return Caller(SYSTEM, Source.SWEEP)
