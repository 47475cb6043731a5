"""A record as its page tells it: the one attempt that counted, the rounds, the digests, the others. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from claims.selectors.provenance import Record

Part = Mapping[str, Any]
Names = Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Chain:
    """What taking the hashes of the history again led to."""

    is_checked: bool
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt: ``won`` is the one whose result was committed."""

    fence: Part
    agent: str
    owner: str
    began: datetime | None
    ended: datetime | None
    outcome: str
    staged: int
    late: int
    won: bool
    adopted_from: int | None


@dataclass(frozen=True, slots=True)
class Round:
    """One delivery with what a person decided on it."""

    number: int
    agent: str
    delivered: datetime | None
    state: str
    subject: str
    fence: Part
    kind: str
    reviewer: str
    decided: datetime | None
    note: str
    marks: Sequence[str]
    verdicts: int
    met: int


@dataclass(frozen=True, slots=True)
class Sent:
    """One outside effect and the observation that settled it, where one did."""

    effect_id: str
    slot: str
    target: str
    state: str
    payload_digest: str
    permits: int
    settled_by: str
    settled_at: datetime | None
    seen: int


@dataclass(frozen=True, slots=True)
class Seen:
    """All of it. ``accepted`` is None where no review was asked for."""

    winner: Tried
    accepted: Round | None
    delivery_id: str
    committed_at: datetime | None
    commit_id: str
    digests: Sequence[tuple[str, str, str]]
    pins: Sequence[Part]
    attempts: Sequence[Tried]
    rounds: Sequence[Round]
    effects: Sequence[Sent]
    subjects: Sequence[Part]
    evidence: Sequence[Part]
    rows: int
    head: str


def people_in(predicate: Part) -> set[int]:
    """The ids of the people that a record names, for their full names."""
    found = {attempt["owner"]["id"] for attempt in predicate["attempts"]}
    for delivery in predicate["deliveries"]:
        if delivery["decision"]:
            found.add(delivery["decision"]["reviewer"]["id"])
    return found


def seen_in(record: Record, names: Names) -> Seen:
    """The record for its page; ``names`` are what people are called, by id."""
    told = record.predicate
    commit = told["commit"]
    attempts = [_tried(each, told, names) for each in told["attempts"]]
    rounds = [_round(each, names) for each in told["deliveries"]]
    accepted = next((each for each in rounds if each.kind == "ACCEPTED"), None)
    return Seen(
        winner=next(each for each in attempts if each.won),
        accepted=accepted,
        delivery_id=commit["deliveryId"] or "",
        committed_at=_at(commit["committedAt"]),
        commit_id=commit["commitId"],
        digests=list(_digests(told, accepted)),
        pins=told["pins"],
        attempts=attempts,
        rounds=rounds,
        effects=[_sent(each) for each in told["effects"]],
        subjects=record.statement["subject"],
        evidence=told["evidence"],
        rows=len(told["history"]),
        head=f"sha256:{told['head']['hash']}",
    )


def _digests(told: Part, accepted: Round | None) -> Iterator[tuple[str, str, str]]:
    """Name, value and what it is of."""
    yield "input", told["inputDigest"], "the input and the results it is pinned to"
    yield "result", told["commit"]["resultDigest"], "the result and its evidence"
    if accepted:
        yield "subject", accepted.subject, f"round {accepted.number}: what was decided on"
    yield "head", f"sha256:{told['head']['hash']}", f"the {len(told['history']):,} rows of its history"


def _tried(attempt: Part, told: Part, names: Names) -> Tried:
    by_id = {each["attemptId"]: each["fence"]["claimGeneration"] for each in told["attempts"]}
    return Tried(
        fence=attempt["fence"],
        agent=attempt["agent"]["name"],
        owner=_called(attempt["owner"], names),
        began=_at(attempt["startedAt"]),
        ended=_at(attempt["endedAt"]),
        outcome=(attempt["outcome"] or "").lower(),
        staged=len(attempt["staged"]),
        late=sum(each["late"] for each in attempt["staged"]),
        won=attempt["attemptId"] == told["commit"]["attemptId"],
        adopted_from=by_id.get(attempt["adoptedFrom"]),
    )


def _round(delivery: Part, names: Names) -> Round:
    decision = delivery["decision"] or {}
    verdicts = decision.get("verdicts", {}).values()
    return Round(
        number=delivery["round"],
        agent=delivery["agent"]["name"],
        delivered=_at(delivery["deliveredAt"]),
        state=delivery["state"],
        subject=delivery["subjectDigest"],
        fence=delivery["fence"],
        kind=decision.get("kind", ""),
        reviewer=_called(decision["reviewer"], names) if decision else "",
        decided=_at(decision.get("decidedAt")),
        note=decision.get("note", ""),
        marks=decision.get("marks", []),
        verdicts=len(verdicts),
        met=sum(given.get("verdict") == "MET" for given in verdicts),
    )


def _sent(effect: Part) -> Sent:
    applied = [each for each in effect["observations"] if each["applied"]]
    last = applied[-1] if applied else None
    return Sent(
        effect_id=effect["effectId"],
        slot=effect["slot"],
        target=effect["target"],
        state=effect["state"],
        payload_digest=effect["payloadDigest"],
        permits=len(effect["permits"]),
        settled_by=last["actor"][2] if last else "",
        settled_at=_at(last["at"]) if last else None,
        seen=len(effect["observations"]),
    )


def _called(who: Part, names: Names) -> str:
    return names.get(who["id"], str(who["name"]))


def _at(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
