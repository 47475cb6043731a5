"""What each verb of the history is called in a timeline: the sentence, the chip, the small print. Pure.

Promises: every verb has its sentence; what is not known is left out rather than guessed.
"""

from __future__ import annotations

from typing import Any

from claims.models import History
from claims.vocabulary import ActorKind, AttemptOutcome, State, Verb
from reviews.shell.words import span

TRIED = {
    Verb.CLAIM: "claim it",
    Verb.RENEW: "renew the lease",
    Verb.PROGRESS: "report progress",
    Verb.ADD_FILE: "add a file",
    Verb.STAGE: "stage a result",
    Verb.RELEASE: "give it back",
    Verb.FAIL: "report a failure",
    Verb.DELIVER: "deliver",
    Verb.COMMIT: "commit",
    Verb.ACCEPT: "accept",
    Verb.REQUEST_CHANGES: "request changes",
    Verb.REJECT: "reject",
    Verb.ADJUST: "change it",
    Verb.RELEASE_QUIET: "release the claim",
    Verb.REASSIGN: "reassign it",
    Verb.EXTEND_ONCE: "extend the lease",
    Verb.NUDGE: "nudge the runner",
    Verb.REQUEUE: "requeue it",
    Verb.CANCEL: "cancel it",
    Verb.REVISE: "revise it",
    Verb.ACKNOWLEDGE: "acknowledge an earlier effect",
    Verb.ADOPT: "adopt evidence",
    Verb.ACCEPT_TOOL: "use a tool",
    Verb.PREPARE: "prepare an effect",
    Verb.EXECUTE: "get a permit for an effect",
    Verb.CONFIRM: "confirm an effect",
    Verb.UNKNOWN: "report an effect as unknown",
    Verb.HAND_BACK: "hand a permit back",
    Verb.ABANDON: "abandon an effect",
    Verb.RECONCILE: "reconcile an effect",
    Verb.APPROVE: "approve an effect",
    Verb.REFUSE: "refuse an effect",
    Verb.REVOKE: "take an approval back",
}
"""After "tried to"; a verb without words is named as it is."""

SENTENCES = {
    Verb.CREATE: "{written}",
    Verb.ADJUST: "{adjusted}",
    Verb.CLAIM: "claimed it",
    Verb.CLAIM_NEXT: "claimed it",
    Verb.RELEASE: "gave it back, {moved}",
    Verb.FAIL: "{failed}, {moved}",
    Verb.DELIVER: "delivered round {round}",
    Verb.COMMIT: "committed the result, no review asked for",
    Verb.ACCEPT: "accepted round {round}",
    Verb.REQUEST_CHANGES: "requested changes to round {round}",
    Verb.REJECT: "rejected round {round}, {moved}",
    Verb.RELEASE_QUIET: "released the claim, {moved}",
    Verb.REASSIGN: "gave it to {runner}",
    Verb.EXTEND_ONCE: "gave the claim one more term",
    Verb.NUDGE: "asked the runner for a sign of life",
    Verb.REQUEUE: "{requeued}",
    Verb.LAPSE: "The claim lapsed, {moved}",
    Verb.DISABLE_AGENT: "switched the agent off, {moved}",
    Verb.CANCEL: "cancelled it",
    Verb.REVISE: "{revised}",
    Verb.ACKNOWLEDGE: "said that an earlier effect {counts}",
    Verb.OPEN: "opened it: the last result it waited for is there",
    Verb.OUTDATE: "{outdated}",
    Verb.ADOPT: "gave it to {runner} with evidence that was there",
    Verb.PREPARE: "prepared the effect {slot}",
    Verb.EXECUTE: "got permit {permit} for the effect {slot}",
    Verb.CONFIRM: "confirmed the effect {slot}",
    Verb.UNKNOWN: "could not tell whether the effect {slot} happened",
    Verb.HAND_BACK: "never got the permit for the effect {slot}; it is in doubt",
    Verb.ABANDON: "will not send the effect {slot}",
    Verb.OBSERVE: "{said} of the effect {slot}; kept, and nothing changed by it",
    Verb.RECONCILE: "{reconciled}",
    Verb.EXPIRE_PERMIT: "The permit for the effect {slot} ran out unanswered; it is in doubt",
    Verb.APPROVE: "approved one permit for the effect {slot}",
    Verb.REFUSE: "refused the effect {slot}",
    Verb.REVOKE: "took the approval of the effect {slot} back",
}

_SAID = {
    "HAPPENED": "said HAPPENED",
    "DID_NOT_HAPPEN": "said DID NOT HAPPEN",
    "CANNOT_TELL": "said CANNOT TELL",
}
_RECONCILED = {
    "COMMITTED": "settled the effect {slot}: it happened",
    "PREPARED": "settled the effect {slot}: it did not happen",
    "UNKNOWN": "could not tell of the effect {slot}; it stays in doubt",
    "WRITTEN_OFF": "wrote the effect {slot} off",
}


def sentence_of(row: History) -> str:
    """What happened, in words; the verb itself where there are none for it."""
    sentence = SENTENCES.get(row.verb)  # type: ignore[call-overload]
    if sentence is None:
        return str(row.verb)
    body, slot = row.body, _slot(row)
    told = str(sentence).format(
        moved=f"gen {row.claim_generation - 1} became {row.claim_generation}",
        failed="failed" if body.get("retryable", True) else "failed for good",
        round=body.get("round", ""),
        written="The task was written" if row.actor_kind == ActorKind.SYSTEM else "wrote the task",
        runner=body.get("runner", "another agent"),
        counts="counts for this revision" if body.get("counts") else "is to be done again",
        requeued=_requeued(row),
        revised=_revised(row),
        outdated=_outdated(row),
        reconciled=_RECONCILED.get(_target(row), "reconciled the effect {slot}").format(slot=slot),
        said=_SAID.get(body.get("said", ""), "said something"),
        permit=body.get("permit", ""),
        slot=slot,
        adjusted=_adjusted(row),
    )
    return told if row.actor_kind != ActorKind.SYSTEM else told[:1].upper() + told[1:]


def chip_of(row: History) -> str:
    """The state that is worth a chip: where the task stands still, or is done."""
    if row.to_state == row.from_state:
        return ""
    if row.to_state in (State.HELD, State.CANCELLED, State.SUPERSEDED, State.BLOCKED):
        return row.to_state
    return row.to_state if row.verb in (Verb.DELIVER, Verb.ACCEPT, Verb.COMMIT) else ""


def hint_of(row: History) -> str:
    """The small print beside the sentence."""
    body, parts = row.body, []
    if row.verb == Verb.REQUEST_CHANGES:
        parts.append(
            f"{body['runner']} keeps the task"
            if "runner" in body
            else "its agent cannot take it now: open to others"
        )
    if body.get("ttlSeconds"):
        parts.append(f"lease of {span(body['ttlSeconds'])}")
    if body.get("held") and row.to_state != row.from_state:
        parts.append(str(body["held"]))
    if body.get("ended") == AttemptOutcome.FENCED:
        parts.append("its epoch had ended")
    if row.verb == Verb.CANCEL:
        parts.append("nothing of it is accepted from here on")
    parts += _doubted(row)
    return ", ".join(parts)


def quote_of(row: History) -> str:
    """A person's or an agent's own words."""
    return str(row.body.get("reason") or row.body.get("note") or "")


def _slot(row: History) -> str:
    moved = row.body.get("effects") or [{}]
    return str(row.body.get("slot") or moved[0].get("slot") or "")


def _target(row: History) -> str:
    moved = row.body.get("effects") or [{}]
    return str(moved[0].get("to") or "")


def _doubted(row: History) -> list[str]:
    """What a loss of authority left behind: calls that may be under way."""
    if row.verb in (Verb.UNKNOWN, Verb.HAND_BACK, Verb.EXPIRE_PERMIT, Verb.RECONCILE, Verb.OBSERVE):
        return []
    moved: list[dict[str, Any]] = row.body.get("effects") or []
    slots = [str(step.get("slot", "")) for step in moved if step.get("to") == "UNKNOWN"]
    return [f"the effect {slot} may have been under way: it is in doubt" for slot in slots]


def _adjusted(row: History) -> str:
    if "handedOn" not in row.body:
        return "changed how it is scheduled"
    return (
        f"handed round {row.body.get('round', '')} on to {row.body['handedOn'].get('to', 'another reviewer')}"
    )


def _requeued(row: History) -> str:
    if not row.from_state:
        return f"made revision {row.body.get('revision', '')} of it, with the results there are now"
    if row.to_state == State.SUPERSEDED:
        return "put its next revision in its place: its input was stale"
    return "put it back, attempts start anew"


def _revised(row: History) -> str:
    if not row.from_state:
        return f"wrote revision {row.body.get('revision', '')} of it"
    if row.to_state == State.DONE:
        return "wrote its next revision; this result stays"
    return "wrote its next revision, which takes its place"


def _outdated(row: History) -> str:
    newer = ", ".join(str(name) for name in row.body.get("newer", [])[:5]) or "A predecessor"
    if row.to_state == State.DONE:
        return f"marked it as built on old input: {newer} has a newer result"
    return f"held it, {newer} has a newer result than it was opened with"
