"""The real side: the same commands as verbs of ``claims.transitions`` on a pool of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model

from claims import canonical, decide, transitions
from claims.callers import SYSTEM, Caller, sweep_caller
from claims.fences import Fence as RealFence
from claims.inputs import NewTask
from claims.models import Agent, Delivery, Membership
from claims.outcomes import Created, Grants
from claims.transitions import Answer, StagedResult
from claims.vocabulary import Gate, ReclaimPolicy, ReviewPolicy, Right, Said, Source, Verdict
from tests.stateful.abstract import FIRST, MODES, MOST_ATTEMPTS, RIGHTS, SECOND, SLOTS, Fence, Row
from tests.stateful.ledger import Seen
from tests.stateful.model import Command
from tests.stateful.operating import Sighting
from tests.stateful.reading import Names, snapshot
from tests.support.effects import LOOKUP
from tests.support.planting import unguarded
from tests.support.world import a_world, judgement

AGENTS = 3
HOUR = 3_600
OTHER_DIGEST = f"sha256:{'0' * 64}"
PAYLOADS = ({"text": "done"}, {"text": "changed"})
RECEIPTS = ({"id": "m-1"}, {"id": "m-2"})


def an_input(variant: int) -> dict[str, Any]:
    """A specification with the slots of a variant. Permits and settle times last an hour."""
    slots = [
        {
            "slot": slot,
            "mode": MODES[slot],
            "target": f"https://sink.test/{slot}",
            "required": is_required,
            "permitSeconds": HOUR,
            "settleSeconds": HOUR,
            **({"lookup": LOOKUP} if slot == "mail" else {}),
        }
        for slot, is_required in SLOTS[variant].items()
    ]
    return {
        "task": f"Variant {variant}",
        "acceptance": [{"text": "It is done"}, {"text": "Nothing else is"}],
        "effects": slots,
    }


class Real:
    """One pool, its people and agents, and the calls the model's commands stand for."""

    def __init__(self, rows: list[Row]) -> None:
        self.world = a_world(
            allows_unreviewed=True, ttl_seconds=HOUR, max_ttl_seconds=HOUR, max_attempts=MOST_ATTEMPTS
        )
        world = self.world
        world.agent()
        stranger = get_user_model().objects.create_user(f"stranger-{world.pool.name}")
        self.people = {
            "reviewer": world.reviewer,
            "operator": world.operator,
            "preparer": world.preparer,
            "owner": world.owner,
            "stranger": stranger,
        }
        for name in ("preparer", "owner"):
            assert "REVIEWER" in RIGHTS[name]
            Membership.objects.create(pool=world.pool, person=self.people[name], right=Right.REVIEWER)
        self.names = Names([agent.id for agent in world.agents], [world.epoch])
        self._create(rows)

    def _create(self, rows: list[Row]) -> None:
        tasks = [
            NewTask(
                title=row.lineage,
                input=an_input(row.variant),
                node_id=row.lineage,
                depends_on=(FIRST,) if row.lineage == SECOND else (),
                review_policy=ReviewPolicy.NONE if row.is_unreviewed else ReviewPolicy.REVIEW,
                reclaim_policy=ReclaimPolicy.AUTO if row.is_auto else ReclaimPolicy.MANUAL,
            )
            for row in rows
        ]
        made = transitions.create(self.person("preparer"), self.world.pool.name, tasks)
        assert isinstance(made, Created), made

    def person(self, name: str, key: str | None = None) -> Caller:
        return self.world.person(self.people[name], key)

    def runner(self, number: int, key: str | None = None) -> Caller:
        return self.world.caller(self.world.agents[number], key=key)

    def row_id(self, row: int) -> UUID:
        return UUID(self.names.rows[row])

    def see(self) -> dict[str, Any]:
        """The tables of the pool now."""
        return snapshot(self.world.pool.id)

    def prepare(self, command: Command, key: str, body: str = "") -> Callable[[], Any]:
        """The call of a command, ready to be made once or again. ``body`` is another request's."""
        arguments = dict(command.arguments)
        if "runner" in arguments and "person" not in arguments:
            caller = self.runner(
                arguments.pop("runner"), arguments.get("key") if command.verb == "execute" else key
            )
        elif "person" in arguments:
            caller = self.person(arguments.pop("person"), key)
        else:
            caller = sweep_caller()
        caller = replace(caller, request_digest=canonical.digest(body or str(command)))
        translated = {name: self._translate(name, value) for name, value in arguments.items()}
        call = CALLS[command.verb]
        return lambda: call(self, caller, translated)

    def _translate(self, name: str, value: Any) -> Any:
        if isinstance(value, Fence):
            return self.fence(value)
        if isinstance(value, Sighting):
            return self._sighting(value)
        match name:
            case "row":
                return UUID(self.names.rows[value])
            case "attempt":
                return UUID(self.names.attempts[value])
            case "effect":
                return self.names.effects[value]
            case "permit":
                return UUID(self.names.permits[value])
            case "epoch" | "expected":
                return self.names.epochs[value]
            case "delivery":
                return Delivery.objects.get(id=self.names.deliveries[value])
            case "runner":
                return self.world.agents[value].name
            case _:
                return value

    def fence(self, fence: Fence) -> RealFence:
        """A fence of the model; an epoch that never was is one beyond the last."""
        return RealFence(
            UUID(self.names.rows[fence.row]),
            UUID(self.names.attempts[fence.attempt]),
            self.names.epochs[fence.epoch] if fence.epoch < len(self.names.epochs) else 2**40,
            fence.generation,
            fence.cancel,
        )

    def _sighting(self, sighting: Sighting) -> decide.Sighting:
        end = self.names.ends.get(sighting.token) if sighting.token is not None else None
        seen = datetime.fromisoformat(end) if end else None
        return decide.Sighting(sighting.version, seen, "it is quiet", sighting.even_if_live)

    def digest(self, fence: RealFence, is_digest: bool) -> str:
        """The input digest of a fence's task, or another."""
        number = self.names.rows.index(str(fence.task_id))
        return (self.names.digests[number] or OTHER_DIGEST) if is_digest else OTHER_DIGEST

    def expire_lease(self, row: int) -> None:
        """The lease of a row has run out."""
        _run(
            "UPDATE claims_lease SET expires_at = clock_timestamp() - interval '1 s' WHERE task_id = %s",
            self.names.rows[row],
        )

    def end_window(self, row: int) -> None:
        """No renewal of the claim fits its window any more."""
        _run(
            "UPDATE claims_lease SET window_ends_at = clock_timestamp() + interval '1 min' WHERE task_id = %s",
            self.names.rows[row],
        )

    def age_permit(self, permit: int) -> None:
        """An hour and a little passes for one permit. It is append-only; the guard steps aside."""
        _run(
            "UPDATE claims_permit SET granted_at = granted_at - interval '61 min', deadline = deadline - interval '61 min' WHERE id = %s",
            self.names.permits[permit],
        )

    def run_out(self, effect: int) -> None:
        """The approval of an effect runs out."""
        _run(
            "UPDATE claims_approval SET expires_at = at - interval '1 s' WHERE effect_id = %s AND state = 'GRANTED'",
            self.names.effects[effect],
        )

    def switch_on(self, runner: int) -> None:
        """A disabled agent may be used again."""
        Agent.objects.filter(id=self.names.agents[runner]).update(is_disabled=False)


def _run(statement: str, value: str) -> None:
    """Move a clock, past the guards of the table: nothing but time is changed."""
    table = statement.split()[1].removeprefix("claims_")
    with unguarded(table) as cursor:
        cursor.execute(statement, [value])


Arguments = dict[str, Any]


def _staged(number: int | None) -> StagedResult | None:
    return None if number is None else StagedResult({"result": number}, [])


def _hand_in(verb: Callable[..., Any], real: Real, caller: Caller, given: Arguments) -> Any:
    staged, fence = _staged(given["result"]), given["fence"]
    digest = real.digest(fence, given["is_digest"])
    if given["is_inline"]:
        return verb(caller, fence, digest, staged=staged)
    return verb(caller, fence, digest, staged.digest if staged else None)


def _decide(
    verb: Callable[..., Any], caller: Caller, given: Arguments, verdict: Verdict, note: str = ""
) -> Any:
    delivery: Delivery = given["delivery"]
    subject = {} if given["is_subject"] else {"subject_digest": OTHER_DIGEST}
    return verb(caller, delivery.id, judgement(delivery, verdict, note, **subject))


def _revise(real: Real, caller: Caller, given: Arguments) -> Any:
    return transitions.revise(caller, given["row"], given["version"], an_input(given["variant"]))


def _look(given: Arguments, kind: str) -> decide.Look:
    return decide.Look(Said(given["said"]), kind, given.get("etag", ""), RECEIPTS[0])


def _approve(real: Real, caller: Caller, given: Arguments) -> Any:
    seen: Seen = given["seen"]
    return transitions.approve(
        caller,
        given["effect"],
        _digest_of(seen.payload),
        seen.generation,
        real.names.epochs[seen.epoch],
        seen.doubt,
        HOUR,
    )


def _digest_of(payload: int) -> str:
    return canonical.digest(PAYLOADS[payload])


def _operate(verb: Callable[..., Any]) -> Callable[[Real, Caller, Arguments], Any]:
    return lambda real, caller, given: verb(caller, given["row"], given["sighting"])


def _disable(real: Real, caller: Caller, given: Arguments) -> Any:
    return transitions.disable_agent(Caller(SYSTEM, Source.COMMAND), caller.actor.id)


CALLS: dict[str, Callable[[Real, Caller, Arguments], Any]] = {
    "claim": lambda real, caller, given: transitions.claim(caller, given["row"], given["version"], given["epoch"]),
    "claim_next": lambda real, caller, given: transitions.claim_next(
        caller, real.world.pool.name, given["epoch"], given["most"]
    ),
    "renew": lambda real, caller, given: transitions.renew(caller, given["fence"], HOUR),
    "progress": lambda real, caller, given: transitions.progress(caller, given["fence"], "at work"),
    "accept_tool": lambda real, caller, given: transitions.accept_tool(caller, given["fence"], "shell", OTHER_DIGEST),
    "stage": lambda real, caller, given: transitions.stage(caller, given["fence"], _staged(given["result"])),  # type: ignore[arg-type]
    "release": lambda real, caller, given: transitions.release(caller, given["fence"], "no time"),
    "fail": lambda real, caller, given: transitions.fail(caller, given["fence"], "broken", given["retryable"]),
    "deliver": lambda real, caller, given: _hand_in(transitions.deliver, real, caller, given),
    "commit": lambda real, caller, given: _hand_in(transitions.commit, real, caller, given),
    "accept": lambda real, caller, given: _decide(
        transitions.accept, caller, given, Verdict.MET if given["is_met"] else Verdict.CANNOT_TELL
    ),
    "request_changes": lambda real, caller, given: _decide(
        transitions.request_changes, caller, given, Verdict.NOT_MET, "louder"
    ),
    "reject": lambda real, caller, given: _decide(transitions.reject, caller, given, Verdict.NOT_MET, "no"),
    "release_quiet": _operate(transitions.release_quiet),
    "extend_once": _operate(transitions.extend_once),
    "nudge": _operate(transitions.nudge),
    "requeue": _operate(transitions.requeue),
    "reassign": lambda real, caller, given: transitions.reassign(caller, given["row"], given["sighting"], given["runner"]),
    "adopt": lambda real, caller, given: transitions.adopt(
        caller, given["row"], given["sighting"], given["runner"], attempt_id=given["attempt"]
    ),
    "lapse": lambda real, caller, given: transitions.lapse(caller, given["row"]),
    "settle": lambda real, caller, given: transitions.settle(caller, given["row"]),
    "raise_epoch": lambda real, caller, given: transitions.raise_epoch(caller, real.world.pool.name, given["expected"], "restored"),
    "gate": lambda real, caller, given: transitions.gate(caller, real.world.pool.name, Gate(given["wanted"]), "upgrade"),
    "disable_agent": _disable,
    "revise": _revise,
    "cancel": lambda real, caller, given: transitions.cancel(caller, given["row"], "not wanted"),
    "adjust": lambda real, caller, given: transitions.adjust(
        caller, given["row"], {"reclaim_policy": ReclaimPolicy.AUTO if given["is_auto"] else ReclaimPolicy.MANUAL}
    ),
    "acknowledge": lambda real, caller, given: transitions.acknowledge(
        caller, given["row"], Answer(given["effect"], given["counts"], "seen")
    ),
    "prepare": lambda real, caller, given: transitions.prepare(caller, given["fence"], given["slot"], PAYLOADS[given["payload"]]),
    "execute": lambda real, caller, given: transitions.execute(caller, given["fence"], given["effect"]),
    "abandon": lambda real, caller, given: transitions.abandon(caller, given["fence"], given["effect"], "not needed"),
    "confirm": lambda real, caller, given: transitions.confirm(
        caller, given["fence"], given["effect"], given["permit"], RECEIPTS[given["receipt"]]
    ),
    "unknown": lambda real, caller, given: transitions.unknown(caller, given["fence"], given["effect"], given["permit"]),
    "hand_back": lambda real, caller, given: transitions.hand_back(caller, given["fence"], given["effect"], given["key"]),
    "reconcile": lambda real, caller, given: transitions.reconcile(
        caller, given["fence"], given["effect"], _look(given, "http" if given["is_declared"] else "git")
    ),
    "reconcile_as_operator": lambda real, caller, given: transitions.reconcile_as_operator(
        caller, given["effect"], _look(given, ""), given["version"]
    ),
    "write_off": lambda real, caller, given: transitions.write_off(caller, given["effect"], "gone", given["version"]),
    "expire_permit": lambda real, caller, given: transitions.expire_permit(caller, given["effect"]),
    "approve": _approve,
    "refuse": lambda real, caller, given: transitions.refuse(caller, given["effect"], _digest_of(given["payload"]), "not now"),
    "revoke": lambda real, caller, given: transitions.revoke(caller, given["effect"], "not now"),
}  # fmt: skip


def said(answer: Any) -> str:
    """An answer in the model's words."""
    kind = type(answer).__name__
    match kind:
        case "Refused":
            return str(answer.why.value)
        case "NoneType":
            return "None"
        case "list":
            return f"list {len(answer)}"
        case "Grants":
            return f"Grants {len(answer.grants)}"
        case "Renewed":
            return f"Renewed recovered={answer.recovered} nudged={answer.nudged}"
        case "Staged":
            return f"Staged late={answer.late}"
        case "Cancelled":
            return f"Cancelled {answer.cancel_generation}"
        case "Revised":
            return f"Revised {answer.task.state}"
        case "Acknowledged":
            return f"Acknowledged {answer.counts}"
        case "GateSet":
            return f"GateSet {answer.gate}"
        case "Left" | "Decided" | "EffectMoved" | "Approved":
            return f"{kind} {answer.state}"
        case _:
            return kind


def as_kept(answer: Any) -> Any:
    """An answer without what was only read along with it: of a repeat, the stored ids are given."""
    if not isinstance(answer, Grants):
        return answer
    return Grants(tuple(replace(grant, task=None) for grant in answer.grants))
