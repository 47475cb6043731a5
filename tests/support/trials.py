"""A task with one outside effect, runners that die or freeze over it, and what must be true afterwards."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any
from uuid import UUID

import httpx

from claims import decide, tokens, transitions
from claims.models import Agent, Approval, CanonicalCommit, Effect, Observation, Permit, Task
from claims.vocabulary import FINAL, ApprovalState, EffectMode, EffectState, ReclaimPolicy, ReviewPolicy, Said
from tests.support import invariants
from tests.support.effects import a_slot, etag_of, with_slots
from tests.support.runner import Orders, run
from tests.support.sink import Sink
from tests.support.world import World, expire

PATIENCE_SECONDS = 120.0
TAKE_OVERS = 12
X: dict[str, Any] = {"to": "ops@example.org", "text": "as A wrote it"}
Y: dict[str, Any] = {"to": "ops@example.org", "text": "as B wrote it"}

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.support.runner"])


class Running:
    """One runner's process, and what it has told."""

    def __init__(self, orders: Orders) -> None:
        self.wire, theirs = _forks.Pipe(duplex=False)
        self.process = _forks.Process(target=run, args=(orders, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.told: list[dict[str, Any]] = []
        self.is_over = False

    def receive(self) -> dict[str, Any] | None:
        """The next word; None once there will be no more."""
        try:
            word: dict[str, Any] = self.wire.recv()
        except (EOFError, OSError):
            self.is_over = True
            return None
        self.told.append(word)
        return word

    def send(self, number: signal.Signals) -> None:
        """A signal to this process; to one that has ended, nothing."""
        if self.process.is_alive() and self.process.pid is not None:
            os.kill(self.process.pid, number)

    def end(self) -> None:
        """Whatever it does, it is gone afterwards."""
        self.send(signal.SIGKILL)
        self.process.join(15)
        self.wire.close()

    @property
    def steps(self) -> list[str]:
        """The steps it told, oldest first."""
        return [word["step"] for word in self.told]

    def word(self, step: str) -> dict[str, Any]:
        """What it told of a step. Fails where it never got there."""
        found = [word for word in self.told if word["step"] == step]
        assert found, f"no {step} among {self.told}"
        return found[0]


@dataclass
class Trial:
    """One task, one slot, one sink, and the people who are asked."""

    world: World
    sink: Sink
    url: str
    mode: EffectMode = EffectMode.QUERYABLE
    permit_seconds: int = 1
    settle_seconds: int = 3
    seen: Counter[str] = field(default_factory=Counter)
    runners: list[Running] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.task_id = self.world.task(
            input=self.specification(),
            review_policy=ReviewPolicy.NONE,
            reclaim_policy=ReclaimPolicy.AUTO,
            max_attempts=100,
        )

    def specification(self, **changes: Any) -> dict[str, Any]:
        """The input: one slot that is looked up at the sink."""
        lookup = {"kind": "http", "url": f"{self.sink.url}/{{effectId}}"}
        slot = a_slot(
            mode=self.mode.value,
            lookup=lookup,
            permitSeconds=self.permit_seconds,
            settleSeconds=self.settle_seconds,
        )
        return with_slots(slot, evidence=[], **changes)

    def start(self, agent: Agent, payload: dict[str, Any], **orders: Any) -> Running:
        """A runner of this task, or of the one that ``task_id`` names."""
        task_id = orders.pop("task_id", self.task_id)
        token = tokens.mint(agent_id=agent.id).token
        runner = Running(Orders(self.url, token, str(task_id), self.sink.url, payload, **orders))
        self.runners.append(runner)
        return runner

    def follow(
        self,
        *runners: Running,
        until: Callable[[dict[str, Any]], bool] = lambda _: False,
        seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """Do what people are asked to do, until all have ended, one has told it, or the time is over."""
        end = time.monotonic() + seconds
        while live := [each for each in runners if not each.is_over]:
            left = end - time.monotonic()
            if left <= 0:
                return
            for each in self._ready(live, left):
                word = each.receive()
                if word is not None and until(word):
                    return
                if word is not None:
                    self._answer(word)

    def follow_to_the_end(self, *runners: Running) -> None:
        """Until all of them have ended. Fails where one does not."""
        self.follow(*runners)
        assert all(each.is_over for each in runners), [each.told[-3:] for each in runners]

    def _ready(self, live: Sequence[Running], seconds: float) -> list[Running]:
        ready = wait([each.wire for each in live], timeout=seconds)
        return [each for each in live if each.wire in ready]

    def take_over(self, agent: Agent, payload: dict[str, Any], *beside: Running) -> None:
        """Let others have the task until one has committed; each finds the claim of the one before lapsed."""
        for _ in range(TAKE_OVERS):
            if self.is_final:
                return
            expire(self.task_id)
            runner = self.start(agent, payload)
            self.follow(runner, *beside, until=lambda _, runner=runner: runner.is_over)  # type: ignore[misc]
            self.follow_to_the_end(runner)
        raise AssertionError(f"nobody committed: {[each.told[-1:] for each in self.runners]}")

    @property
    def is_final(self) -> bool:
        """Whether nothing more can come of the task."""
        return Task.objects.values_list("state", flat=True).get(id=self.task_id) in FINAL

    def end(self) -> None:
        """No process of this trial is left."""
        for runner in self.runners:
            runner.end()

    def _answer(self, word: dict[str, Any]) -> None:
        self.seen[word["step"]] += 1
        if word["step"] == "approval":
            self.approve(word["effect"])
        elif word["step"] == "doubt":
            self.reconcile(word["effect"])

    def approve(self, effect_id: str) -> None:
        """The reviewer says yes to what is true now; where that has moved meanwhile, there is a next time."""
        effect = Effect.objects.select_related("task").get(id=effect_id)
        if effect.state != EffectState.PREPARED:
            return
        task, epoch = effect.task, self.world.epoch
        seen = (effect.payload_digest, task.claim_generation, epoch, effect.doubts)
        transitions.approve(self.world.person(self.world.reviewer), effect_id, *seen)

    def reconcile(self, effect_id: str) -> None:
        """The operator looks at the sink, once nobody can be sending any more, and says what is there."""
        effect, etag = Effect.objects.get(id=effect_id), etag_of(effect_id)
        if effect.state not in (EffectState.UNKNOWN, EffectState.EXECUTING) or not etag.endswith(".1"):
            return
        kept = httpx.get(f"{self.sink.url}/{effect_id}", timeout=10).status_code == 200
        said = Said.HAPPENED if kept else Said.DID_NOT_HAPPEN
        look = decide.Look(said, etag=etag, note="Looked at the sink")
        transitions.reconcile_as_operator(
            self.world.person(self.world.operator), effect_id, look, effect.version
        )
        self.seen[f"operator: {said}"] += 1

    def check(self) -> None:
        """The promises about outside effects, and that there is at most one canonical commit."""
        invariants.check(self.task_id)
        assert CanonicalCommit.objects.filter(task_id=self.task_id).count() <= 1
        for effect in Effect.objects.filter(task_id=self.task_id):
            self._check_calls(effect)
            self._check_permits(effect)

    def _check_calls(self, effect: Effect) -> None:
        calls = self.sink.calls(effect.id)
        permits = [call["permitId"] for call in calls]
        assert len(set(permits)) == len(permits), "a permit is for one call"
        assert all(call["payload"] == effect.payload for call in calls), "one payload an effect"
        known = {str(permit.id): permit for permit in Permit.objects.filter(effect_id=effect.id)}
        assert set(permits) <= set(known), "no call without a permit"
        for earlier in permits[:-1]:
            assert _is_denied(UUID(earlier)), (
                f"a second call without a recorded DID_NOT_HAPPEN: {self._report()}"
            )
        assert len(calls) <= 1, f"the sink saw two calls: {self._report()}"
        if effect.state == EffectState.COMMITTED:
            assert len(calls) == 1, f"committed, and the sink knows of none: {self._report()}"

    def _check_permits(self, effect: Effect) -> None:
        permits = list(Permit.objects.filter(effect_id=effect.id).order_by("number"))
        for permit in permits[:-1]:
            assert _is_denied(permit.id), f"a permit after one that may have been used: {self._report()}"
        if effect.mode != EffectMode.NON_REPLAYABLE:
            return
        approvals = [permit.approval_id for permit in permits]
        assert None not in approvals, "a permit without an approval"
        assert len(set(approvals)) == len(approvals), "an approval for each permit"
        for permit in permits:
            approval = Approval.objects.get(id=permit.approval_id)
            assert (approval.state, approval.payload_digest, approval.claim_generation) == (
                ApprovalState.CONSUMED,
                effect.payload_digest,
                permit.claim_generation,
            ), "the approval was for this payload and this claim"

    def _report(self) -> list[list[str]]:
        return [each.steps for each in self.runners]


def _is_denied(permit_id: UUID) -> bool:
    return Observation.objects.filter(
        permit_id=permit_id, said=Said.DID_NOT_HAPPEN, is_applied=True, is_strong=True
    ).exists()
