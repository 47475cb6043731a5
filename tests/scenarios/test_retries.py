"""Retries and idempotency keys: B31, B33, B34."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claims import transitions
from claims.callers import Caller
from claims.models import Attempt, CanonicalCommit, IdempotencyKey
from claims.outcomes import Committed, Delivered, Granted, Why
from claims.vocabulary import ReviewPolicy
from tests.support.records import no_change, why
from tests.support.world import World, expire

pytestmark = pytest.mark.django_db


def keyed(caller: Caller, body: str = "1") -> Caller:
    return replace(caller, key="k1", request_digest=f"sha256:{body}")


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
