"""Retries and idempotency keys: B28, B29, B30, B31, B32, B33, B34. Kills at each statement are in tests/day."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, connection

from claims import transitions
from claims.callers import Caller
from claims.kernel.keys import holder_of, lock_number
from claims.models import Attempt, CanonicalCommit, History, IdempotencyKey
from claims.outcomes import Committed, Delivered, Granted, Left, Refused, Why
from claims.vocabulary import ReviewPolicy, State
from tests.api.conftest import Caller as ApiCaller
from tests.api.conftest import claimed
from tests.race.meeting import blocked
from tests.support.records import no_change, task_row, verbs_of, why
from tests.support.world import World, expire, judgement

pytestmark = pytest.mark.django_db


def keyed(caller: Caller, body: str = "1") -> Caller:
    return replace(caller, key="k1", request_digest=f"sha256:{body}")


def breaks(table: str) -> None:
    """Let every insert into a table fail, until the test is rolled back."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = '53100'; END $$"
        )
        cursor.execute(
            f"CREATE TRIGGER broken BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION broken()"
        )


def mends(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER broken ON {table}")


@pytest.mark.parametrize("table", ["claims_history", "claims_idempotencykey"])
def test_b28_actor_ts_984_a_fault_on_the_way_neither_burns_the_key_nor_is_kept_as_the_answer(
    world: World, table: str
) -> None:
    granted = world.claimed()
    release = partial(transitions.release, keyed(world.caller()), granted.fence, "no time")
    breaks(table)
    with no_change(granted.fence.task_id), pytest.raises(DatabaseError):
        release()
    assert not IdempotencyKey.objects.exists()
    mends(table)
    assert isinstance(release(), Left)
    assert verbs_of(granted.fence.task_id).count("release") == 1


def test_b28_actor_ts_984_a_refusal_is_no_answer_that_is_kept(world: World) -> None:
    task_id = world.task()
    claim = partial(transitions.claim, keyed(world.caller()), task_id)
    assert why(claim(99, world.epoch)) is Why.STALE_STATE
    assert not IdempotencyKey.objects.exists()
    assert isinstance(claim(1, world.epoch), Granted)


def test_b29_express_idempotency_32_a_key_and_its_change_are_one_transaction(world: World) -> None:
    granted = world.claimed()
    breaks("claims_idempotencykey")
    with pytest.raises(DatabaseError):
        transitions.deliver(
            keyed(world.caller()), granted.fence, granted.input_digest, staged=world.staged(granted)
        )
    assert task_row(granted.fence.task_id).state == State.CLAIMED
    assert "deliver" not in verbs_of(granted.fence.task_id)


CALLS_AT_ONCE = 50


@pytest.mark.parametrize("verb", ["claim", "deliver", "commit", "accept"])
def test_b30_grape_idempotency_4_of_fifty_first_requests_one_is_carried_out(
    open_world: World, verb: str
) -> None:
    call, task_id = at_once(open_world, verb)
    start = threading.Barrier(CALLS_AT_ONCE)

    def send(_: int) -> Any:
        try:
            start.wait()
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(CALLS_AT_ONCE) as threads:
        answers = list(threads.map(send, range(CALLS_AT_ONCE)))
    given = [answer for answer in answers if not isinstance(answer, Refused)]
    assert given
    assert all(answer == given[0] for answer in given)
    assert {why(answer) for answer in answers if isinstance(answer, Refused)} <= {Why.IN_PROGRESS}
    assert History.objects.filter(task_id=task_id, verb=verb).count() == 1
    assert call() == given[0]


def at_once(world: World, verb: str) -> tuple[Any, Any]:
    """One keyed call of a verb, and the task it is about."""
    if verb == "claim":
        task_id = world.task()
        return partial(transitions.claim, keyed(world.caller()), task_id, 1, world.epoch), task_id
    if verb == "accept":
        delivery = world.delivered()
        reviewer = replace(world.person(world.reviewer), key="k1")
        return partial(transitions.accept, reviewer, delivery.id, judgement(delivery)), delivery.task_id
    policy = ReviewPolicy.NONE if verb == "commit" else ReviewPolicy.REVIEW
    granted = world.claimed(review_policy=policy)
    hand_in = transitions.commit if verb == "commit" else transitions.deliver
    staged = world.staged(granted)
    call = partial(hand_in, keyed(world.caller()), granted.fence, granted.input_digest, staged=staged)
    return call, granted.fence.task_id


def test_b32_keeperhub_1922_each_kind_of_no_says_whether_to_keep_the_key(
    world: World, agent: ApiCaller
) -> None:
    """One that runs still, one that was another request, one that is final: three codes, three ways on."""
    grant = claimed(world, agent)
    at, body = f"/attempts/{grant['attemptId']}/release", {"fence": grant["fence"], "reason": "no time"}
    number = lock_number(holder_of(world.caller()), "k1")
    with blocked("SELECT pg_advisory_xact_lock(%s::bigint)", [number]):
        running = agent.post(at, body, key="k1")
    assert (running.status, running.code, running.body["retry"]) == (409, "IN_PROGRESS", "same_key")
    assert int(running.headers["Retry-After"]) >= 1
    assert agent.post(at, body, key="k1").status == 200
    reused = agent.post(at, {**body, "reason": "another"}, key="k1")
    assert (reused.status, reused.code, reused.body["retry"]) == (422, "KEY_REUSED", "new_key")
    fenced = agent.post(at, body, key="k2")
    assert (fenced.status, fenced.code, fenced.body["retry"]) == (409, "FENCED", "never")


def test_b31_eventyay_602_a_key_used_on_deliver_does_not_answer_for_another_verb_or_body(
    world: World,
) -> None:
    granted = world.claimed()
    staged = world.staged(granted)
    caller = keyed(world.caller())
    first = transitions.deliver(caller, granted.fence, granted.input_digest, staged=staged)
    assert isinstance(first, Delivered)
    with no_change(granted.fence.task_id):
        other_verb = transitions.commit(caller, granted.fence, granted.input_digest, staged=staged)
        other_body = transitions.deliver(
            keyed(world.caller(), "2"), granted.fence, granted.input_digest, staged=staged
        )
    assert [why(other_verb), why(other_body)] == [Why.KEY_REUSED, Why.KEY_REUSED]
    assert transitions.deliver(caller, granted.fence, granted.input_digest, staged=staged) == first


def test_b33_ceph_67012_a_holder_that_asks_again_is_given_its_own_claim(world: World) -> None:
    task_id = world.task()
    first, again = (transitions.claim(keyed(world.caller()), task_id, 1, world.epoch) for _ in range(2))
    assert isinstance(first, Granted)
    assert again == first
    assert Attempt.objects.filter(task_id=task_id).count() == 1


@pytest.mark.parametrize("key", [None, "k1"], ids=["without a key", "with a key"])
def test_b34_cubefs_2363_a_commit_asked_again_is_committed_again_with_the_same_body(
    sandbox: World, key: str | None
) -> None:
    granted = sandbox.claimed(review_policy=ReviewPolicy.NONE)
    expire(granted.fence.task_id)
    staged = sandbox.staged(granted)
    caller = replace(sandbox.caller(), key=key, request_digest="sha256:1" if key else None)
    first = transitions.commit(caller, granted.fence, granted.input_digest, staged=staged)
    assert isinstance(first, Committed)
    with no_change(granted.fence.task_id):
        assert transitions.commit(caller, granted.fence, granted.input_digest, staged=staged) == first
        IdempotencyKey.objects.all().delete()
        assert transitions.commit(caller, granted.fence, granted.input_digest, first.result_digest) == first
    assert CanonicalCommit.objects.filter(task_id=granted.fence.task_id).count() == 1
