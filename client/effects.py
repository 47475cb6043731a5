"""Outside effects: bound to a slot, permitted one call at a time, and never sent on a guess.

Promises: the id of an effect is the server's, computed from the task and the slot; nothing here
makes one up. ``execute`` is asked for once: whoever does not hear its answer hands the permit
back and looks the effect up. A permit's time is counted on the monotonic clock from before it was
asked for, so that a slow answer only makes it end sooner.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from .grants import Grant
from .http import Http
from .problems import PermitLost, Problem, Stopped, Unreachable

Body = dict[str, Any]

_UNHEARD = frozenset({"OUTCOME_UNKNOWN", "FAULT"})


@dataclass
class Permit:
    """The right to make one outside call. ``body`` is the effect as it was answered.

    Send ``effect_id`` to the outside system as its idempotency key, and ``claim_generation`` and
    ``resource_etag`` where it fences on them. ``ends_at`` is on this process's monotonic clock.
    """

    body: Mapping[str, Any] = field(repr=False)
    effect_id: str
    permit_id: str
    payload: Any = field(repr=False)
    claim_generation: int
    resource_etag: str | None
    ends_at: float

    @property
    def seconds_left(self) -> float:
        """How long the call may still be made."""
        return max(0.0, self.ends_at - time.monotonic())

    def check(self) -> None:
        """Raise ``Stopped`` when the call must not be made any more. Ask directly before it."""
        if self.seconds_left <= 0:
            raise Stopped("The permit has ended; the call must not be made.")


@dataclass
class Call:
    """One permitted call on its way: tell ``confirm`` what the outside system answered."""

    permit: Permit
    effects: Effects = field(repr=False)
    grant: Grant = field(repr=False)
    is_told: bool = False

    def confirm(self, receipt: Mapping[str, Any], resource_etag: str = "") -> Body:
        """The call was made and answered."""
        self.is_told = True
        return self.effects.confirm(self.grant, self.permit, receipt, resource_etag)


class Effects:
    """The calls about outside effects. Every method raises ``Problem`` and ``Unreachable`` as ``Client`` does."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def read(self, effect_id: str) -> Body:
        """An effect as it reads now; its ``etag`` is what a look-up has to name."""
        answer: Body = self._http.call("GET", f"/effects/{effect_id}")
        return answer

    def prepare(self, grant: Grant, slot: str, payload: Any) -> Body:
        """Bind a payload to a slot of the input; the same payload again is the same effect."""
        body = {"fence": grant.fence, "slot": slot, "payload": payload}
        answer: Body = self._http.call("POST", f"/attempts/{grant.attempt_id}/effects", body)
        return answer

    def execute(self, grant: Grant, effect_id: str, key: str | None = None) -> Permit:
        """The permit for one call. Asked for once; raises ``PermitLost`` when the answer was not heard."""
        key, asked_at = key or uuid4().hex, time.monotonic()
        path, headers = f"/effects/{effect_id}/execute", {"Idempotency-Key": key}
        try:
            body: Body = self._http.call("POST", path, {"fence": grant.fence}, headers=headers, tries=1)
        except Unreachable as silence:
            raise PermitLost(effect_id, key) from silence
        except Problem as problem:
            if problem.code in _UNHEARD:
                raise PermitLost(effect_id, key) from problem
            raise
        given = body["permit"]
        return Permit(
            body=body,
            effect_id=body["effectId"],
            permit_id=given["permitId"],
            payload=body["payload"],
            claim_generation=given["claimGeneration"],
            resource_etag=given["resourceEtag"],
            ends_at=asked_at + float(given["secondsRemaining"]),
        )

    def confirm(
        self, grant: Grant, permit: Permit, receipt: Mapping[str, Any], resource_etag: str = ""
    ) -> Body:
        """The call was made and answered with ``receipt``."""
        body = {"permitId": permit.permit_id, "receipt": dict(receipt), "resourceEtag": resource_etag}
        return self.move(grant, permit.effect_id, "confirm", body)

    def unknown(self, grant: Grant, permit: Permit, note: str = "") -> Body:
        """Whether the call was made cannot be told."""
        return self.move(
            grant, permit.effect_id, "unknown", {"permitId": permit.permit_id, "note": note[:2_000]}
        )

    def hand_back(self, grant: Grant, effect_id: str, execute_key: str) -> Body:
        """The answer to the execute under this key was never heard."""
        return self.move(grant, effect_id, "hand-back", {"executeKey": execute_key})

    def abandon(self, grant: Grant, effect_id: str, reason: str) -> Body:
        """A prepared effect will not be sent, for good."""
        return self.move(grant, effect_id, "abandon", {"reason": reason})

    def reconcile(
        self,
        grant: Grant,
        effect_id: str,
        said: str,
        look_up: str,
        etag: str,
        receipt: Mapping[str, Any] | None = None,
        note: str = "",
    ) -> Body:
        """What the slot's declared look-up saw; ``etag`` is the effect's, read before the look-up began."""
        body = {"said": said, "lookUp": look_up, "etag": etag, "receipt": receipt, "note": note}
        return self.move(grant, effect_id, "reconcile", body)

    @contextmanager
    def call(self, grant: Grant, slot: str, payload: Any) -> Iterator[Call]:
        """Prepare, get the permit, and make the call inside the block; then ``confirm`` it there.

        Left without a confirmation, by an error or not, the effect is told to be unknown. Raises
        ``PermitLost`` after handing back a permit whose answer was not heard.
        """
        effect_id = str(self.prepare(grant, slot, payload)["effectId"])
        try:
            permit = self.execute(grant, effect_id)
        except PermitLost as lost:
            self._hand_back_lost(grant, lost)
            raise
        call = Call(permit, self, grant)
        try:
            yield call
        finally:
            if not call.is_told:
                self.unknown(grant, permit, "The runner left without a confirmation.")

    def _hand_back_lost(self, grant: Grant, lost: PermitLost) -> None:
        """Nothing may have been handed out at all; then there is nothing to hand back."""
        try:
            self.hand_back(grant, lost.effect_id, lost.key)
        except Problem as problem:
            if problem.code != "UNPROCESSABLE":
                raise

    def move(self, grant: Grant, effect_id: str, verb: str, body: Mapping[str, Any]) -> Body:
        """One verb of one effect, with the grant's fence."""
        answer: Body = self._http.call("POST", f"/effects/{effect_id}/{verb}", {"fence": grant.fence, **body})
        return answer
