"""One run of one attempt: workspace, command, evidence, delivery (docs/how-to/run-agents.md).

Promises: nothing is handed in but under the attempt's own fence, so a run that was overtaken
changes nothing; the command ends when the claim is lost; whatever goes wrong, the attempt is
failed with a sentence, or left for another worker to begin again, ``runs.MOST_STARTS`` at most.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError

from agents import commands, evidence, runs, workspaces
from agents.collecting import CannotCollect, Collection, read_delivery
from agents.git import GitFailed
from agents.models import AgentProfile, AttemptRun
from agents.patience import insist
from agents.renewing import FENCE_LOST, Renewer
from agents.workspaces import Start, Workspace
from claims import tokens, transitions
from claims.callers import Actor, Caller
from claims.inputs import parse_input
from claims.outcomes import Committed, Delivered, Left, Refused
from claims.selectors.running import WorkOrder, work_order
from claims.transitions import Account, StagedResult
from claims.vocabulary import ActorKind, DecisionKind, Source

log = structlog.get_logger(__name__)

CANNOT_BE_DONE = 65
TOKEN_SPARE_SECONDS = 300
LOG_TAIL_BYTES = 600


@dataclass(frozen=True, slots=True)
class Job:
    """What a run works with."""

    order: WorkOrder
    run: AttemptRun
    caller: Caller
    renewer: Renewer

    @property
    def profile(self) -> AgentProfile:
        return self.run.profile


class GivenUp(Exception):
    """The attempt fails; ``retryable``: another try may help."""

    def __init__(self, reason: str, *, retryable: bool = True) -> None:
        super().__init__(reason)
        self.reason, self.retryable = reason, retryable


def run(attempt_id: UUID) -> str:
    """Run an attempt to its end; how it ended, in words. Does nothing when somebody else has it."""
    taken = runs.begin(attempt_id)
    if taken is None:
        return "another worker has it, or it has ended"
    try:
        outcome = _run(taken)
    except BaseException as error:
        with contextlib.suppress(DatabaseError, InterfaceError):
            runs.let_go(taken, f"given up: {type(error).__name__}: {error}")
        raise
    log.info("attempt_run", attempt=str(attempt_id), outcome=outcome)
    return outcome


def _run(taken: AttemptRun) -> str:
    order = work_order(taken.attempt_id)
    if order is None:
        return _ended(taken, "the attempt no longer holds its task")
    caller = Caller(Actor(ActorKind.AGENT, order.agent_id, order.agent_name), Source.WORKER)
    renewed = insist(lambda: transitions.renew(caller, order.fence, order.ttl_seconds))
    if isinstance(renewed, Refused) and renewed.why in FENCE_LOST:
        return _ended(taken, renewed.sentence)
    if taken.starts > runs.MOST_STARTS:
        return _fail(caller, order, taken, GivenUp(f"{taken.starts - 1} workers were lost while running it."))
    renewer = Renewer(caller, order.fence, order.ttl_seconds, taken)
    renewer.start()
    try:
        return _work(Job(order, taken, caller, renewer))
    finally:
        renewer.stop()


def _work(job: Job) -> str:
    """The run between its first and its last renewal."""
    workspace: Workspace | None = None
    try:
        workspace = _workspace(job)
        return _do(job, workspace)
    except GivenUp as given_up:
        return _left(job, given_up)
    except (GitFailed, CannotCollect, OSError) as error:
        return _left(job, GivenUp(f"{error}."))
    finally:
        if workspace is not None:
            workspaces.keep_log(workspace, job.order.fence.attempt_id)
            workspaces.discard(workspace.root)


def _do(job: Job, workspace: Workspace) -> str:
    order, specification = job.order, parse_input(job.order.input)
    limits, deadline = (
        _limits(job.profile),
        time.monotonic() + settings.FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS * 7 / 8,
    )
    with_token = _environment(job, workspace)
    token = insist(lambda: _token(order, limits.time_seconds))
    try:
        environment = {**with_token, "FENCEPOST_TOKEN": token.token}
        ended = commands.run(
            job.profile.command, workspace.work, environment, limits, workspace.log, job.renewer.is_lost
        )
    finally:
        insist(lambda: tokens.revoke(token.id))
    if job.renewer.lost:
        return _left(job, None)
    _judge(ended, workspace)

    handed_in = read_delivery(workspace.out)
    head = workspaces.commit(workspace, f"T-{order.number}, round {order.round}: {order.title}")
    insist(lambda: runs.note_commit(job.run, head))
    collection = Collection(job.caller, order.fence, specification)
    bench = evidence.Bench(workspace, _without_authority(with_token), limits, deadline, job.renewer.is_lost)
    evidence.gather(collection, bench, handed_in, head)
    if job.renewer.lost or collection.refused:
        return _left(job, None, collection.refused)
    account = Account(handed_in.summary, handed_in.needs, handed_in.claims)
    return _hand_in(job, account, StagedResult(handed_in.result, collection.items))


def _token(order: WorkOrder, time_seconds: float) -> tokens.Minted:
    """A token that is good for this attempt alone, and not much longer than its command may run."""
    return tokens.mint(
        agent_id=order.agent_id,
        attempt_id=order.fence.attempt_id,
        name=f"run of T-{order.number}",
        lifetime=timedelta(seconds=time_seconds + TOKEN_SPARE_SECONDS),
    )


def _hand_in(job: Job, account: Account, staged: StagedResult) -> str:
    order = job.order
    answer: Delivered | Committed | Refused
    if order.asks_for_review:
        answer = insist(
            lambda: transitions.deliver(
                job.caller, order.fence, order.input_digest, account=account, staged=staged
            )
        )
    else:
        answer = insist(
            lambda: transitions.commit(job.caller, order.fence, order.input_digest, staged=staged)
        )
    if isinstance(answer, Refused):
        return _left(job, GivenUp(f"The result was not taken: {answer.sentence}"), answer)
    if isinstance(answer, Delivered):
        return _ended(job.run, f"delivered round {answer.round}")
    return _ended(job.run, "committed")


def _left(job: Job, given_up: GivenUp | None, refused: Refused | None = None) -> str:
    """The end of a run that hands in nothing."""
    if refused is not None and refused.why in FENCE_LOST:
        return _ended(job.run, refused.sentence)
    if job.renewer.is_fenced:
        return _ended(job.run, job.renewer.lost)
    if job.renewer.is_taken_over:
        return job.renewer.lost
    if job.renewer.lost:
        runs.let_go(job.run, job.renewer.lost)
        return job.renewer.lost
    return _fail(
        job.caller,
        job.order,
        job.run,
        given_up or GivenUp(refused.sentence if refused else "The run ended without a result."),
    )


def _fail(caller: Caller, order: WorkOrder, taken: AttemptRun, given_up: GivenUp) -> str:
    reason = given_up.reason[:2_000]
    answer: Left | Refused = insist(lambda: transitions.fail(caller, order.fence, reason, given_up.retryable))
    return _ended(taken, answer.sentence if isinstance(answer, Refused) else f"failed: {reason}")


def _ended(taken: AttemptRun, outcome: str) -> str:
    insist(lambda: runs.end(taken, outcome))
    return outcome


def _judge(ended: commands.Ended, workspace: Workspace) -> None:
    """Raises ``GivenUp`` unless the command says that its work can be handed in."""
    if ended.cut is None and ended.exit_code == 0:
        return
    said = (
        f"The command ended with {ended.exit_code}"
        if ended.cut is None
        else f"The command was ended because {ended.cut}"
    )
    tail = _tail(workspace.log)
    raise GivenUp(
        f"{said}.{f' Its last words: {tail}' if tail else ''}",
        retryable=ended.exit_code != CANNOT_BE_DONE or ended.cut is not None,
    )


def _tail(path: Path) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - LOG_TAIL_BYTES))
        return stream.read().decode("utf-8", "replace").replace("\0", "\ufffd").strip()


def _workspace(job: Job) -> Workspace:
    """A workspace that begins from the base, or from what the round that was sent back left."""
    order, profile = job.order, job.profile
    start = None
    if (
        order.review is not None
        and order.review.decision == DecisionKind.CHANGES_REQUESTED
        and profile.repository
    ):
        earlier = runs.before(order.review.attempt_id)
        if earlier is not None and earlier.profile.repository == profile.repository:
            start = Start(earlier.base_commit, earlier.head_commit)
    branch = f"fencepost/T-{order.number}-g{order.fence.claim_generation}"
    name = workspaces.name_of(order.fence.attempt_id, job.run.starts)
    workspace = workspaces.make(name, profile.repository, profile.base_ref, branch, start)
    insist(lambda: runs.note_workspace(job.run, workspace.branch, workspace.base_commit))
    (workspace.root / "grant.json").write_text(json.dumps(order.as_json()), encoding="utf-8")
    return workspace


def _environment(job: Job, workspace: Workspace) -> dict[str, str]:
    """The command's whole environment: the contract's variables and nothing of the server's own."""
    order, chromium = job.order, settings.FENCEPOST_CHROMIUM
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(workspace.root / "home"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        **{str(name): str(value) for name, value in job.profile.environment.items()},
        "FENCEPOST_GRANT": str(workspace.root / "grant.json"),
        "FENCEPOST_FENCE": json.dumps(order.fence.as_json()),
        "FENCEPOST_OUT": str(workspace.out),
        "FENCEPOST_URL": settings.FENCEPOST_URL,
        "FENCEPOST_POOL": order.pool,
        **({"FENCEPOST_CHROMIUM": chromium} if chromium else {}),
    }


def _without_authority(environment: dict[str, str]) -> dict[str, str]:
    """For the commands that prove the work: they have no part in the claim."""
    return {
        name: value
        for name, value in environment.items()
        if name not in ("FENCEPOST_FENCE", "FENCEPOST_GRANT", "FENCEPOST_OUT")
    }


def _limits(profile: AgentProfile) -> commands.Limits:
    longest = settings.FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS * 3 / 4
    return commands.Limits(min(profile.time_limit_seconds, longest), profile.memory_mb, profile.output_bytes)
