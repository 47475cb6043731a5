"""Corruptions of results, effects, graphs, keys, and of the tables as history leads to them."""

from __future__ import annotations

from uuid import uuid4

from claims import transitions
from claims.models import CanonicalCommit, Decision, Delivery, IdempotencyKey
from claims.outcomes import EffectMoved
from tests.support.effects import ONCE_ONLY, executing, prepared, with_effect
from tests.support.planting import forge, plant
from tests.support.records import task_row
from tests.support.world import World
from tests.unit.claims.checking.corrupting import done, planted, released, sent_twice, successor


@planted("a task is committed at most once", "is DONE and has 0 canonical commits")
def the_canonical_commit_was_deleted(world: World) -> None:
    plant("canonicalcommit", "DELETE FROM claims_canonicalcommit WHERE task_id = %s", done(world))


@planted("the canonical commit is what history says", "tells of result digest")
def the_committed_digest_was_changed(world: World) -> None:
    plant(
        "canonicalcommit",
        "UPDATE claims_canonicalcommit SET result_digest = 'sha256:0' WHERE task_id = %s",
        done(world),
    )


@planted("the committed result was staged by its attempt", "has another digest")
def a_committed_result_was_rewritten(world: World) -> None:
    task_id = done(world)
    commit = CanonicalCommit.objects.get(task_id=task_id)
    plant(
        "stagedresult",
        """UPDATE claims_stagedresult SET result = '{"done": false}' WHERE attempt_id = %s""",
        commit.attempt_id,
    )


@planted("deliveries are numbered by round", "Round 1 is missing: the next delivery is round 2")
def a_round_was_skipped(world: World) -> None:
    plant("delivery", "UPDATE claims_delivery SET round = 2 WHERE task_id = %s", done(world))


@planted("the subject of a delivery is its own", "The subject digest of round 1")
def a_subject_digest_was_replaced(world: World) -> None:
    task_id = done(world)
    plant("delivery", "UPDATE claims_delivery SET subject_digest = 'sha256:0' WHERE task_id = %s", task_id)


@planted("a decision is about what was delivered", "about another subject")
def a_decision_was_turned_to_another_subject(world: World) -> None:
    delivery = Delivery.objects.get(task_id=done(world))
    plant(
        "decision",
        "UPDATE claims_decision SET subject_digest = 'sha256:0' WHERE delivery_id = %s",
        delivery.pk,
    )


@planted("a delivery is decided at most once", "is not the decision ACCEPTED of round 1 by its reviewer")
def a_decision_was_put_into_another_persons_mouth(world: World) -> None:
    delivery = Delivery.objects.get(task_id=done(world))
    plant(
        "decision",
        "UPDATE claims_decision SET reviewer_id = %s WHERE delivery_id = %s",
        world.operator.pk,
        delivery.pk,
    )


@planted("a maker decides nothing", "was decided by one of its makers")
def a_maker_had_decided(world: World) -> None:
    delivery = Delivery.objects.get(task_id=done(world))
    plant(
        "decision",
        "UPDATE claims_decision SET makers = makers || %s WHERE delivery_id = %s",
        world.reviewer.pk,
        delivery.pk,
    )
    assert Decision.objects.get(delivery_id=delivery.pk).reviewer_id == world.reviewer.pk


@planted("the owner at the grant is a maker", "does not name the owner of its attempt")
def the_owner_of_an_attempt_was_exchanged(world: World) -> None:
    plant(
        "attempt",
        "UPDATE claims_attempt SET owner_id = %s WHERE task_id = %s",
        world.preparer.pk,
        done(world),
    )


@planted("an effect has one payload", "has another digest than it was prepared with")
def a_payload_was_exchanged(world: World) -> None:
    effect_id = prepared(world, with_effect(world))
    plant("effect", """UPDATE claims_effect SET payload = '{"to": "everybody"}' WHERE id = %s""", effect_id)


@planted("every step of an effect is an edge or a loss of authority", "which is no edge of an effect")
def an_effect_took_a_step_that_is_none(world: World) -> None:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    assert isinstance(transitions.abandon(world.caller(), granted.fence, effect_id, "no"), EffectMoved)
    forge(granted.fence.task_id, 4, "body = jsonb_set(body, '{effects,0,to}', '\"COMMITTED\"')")


@planted("an effect is where its steps lead", "its history leads to EXECUTING")
def an_effect_was_settled_by_hand(world: World) -> None:
    effect_id, _ = executing(world, with_effect(world))
    plant("effect", "UPDATE claims_effect SET state = 'COMMITTED' WHERE id = %s", effect_id)


@planted("a loss of authority leaves nothing executing", "left an effect EXECUTING")
def an_effect_went_on_after_its_claim_had_ended(world: World) -> None:
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    transitions.release(world.caller(), granted.fence, "night")
    plant("effect", "UPDATE claims_effect SET state = 'EXECUTING' WHERE id = %s", effect_id)
    forge(granted.fence.task_id, 5, "body = body - 'effects'")


@planted("permits are numbered each with its row", "there are those numbered [1]")
def a_permit_was_deleted(world: World) -> None:
    effect_id = sent_twice(world)
    plant("permit", "DELETE FROM claims_permit WHERE effect_id = %s AND number = 2", effect_id)


@planted("between two permits it was seen not to have happened", "nothing says that permit 1 did not happen")
def the_observation_between_two_permits_was_deleted(world: World) -> None:
    effect_id = sent_twice(world)
    plant("observation", "DELETE FROM claims_observation WHERE effect_id = %s", effect_id)


@planted("between two permits it was seen not to have happened", "nothing says that permit 1 did not happen")
def the_observation_was_made_before_the_settle_time_had_passed(world: World) -> None:
    effect_id = sent_twice(world)
    plant("effect", "UPDATE claims_effect SET settle_seconds = 600 WHERE id = %s", effect_id)


@planted("what cannot be replayed was approved", "was given for something else")
def an_approval_was_bent_to_another_payload(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id, _ = executing(world, granted)
    plant(
        "approval", "UPDATE claims_approval SET payload_digest = 'sha256:0' WHERE effect_id = %s", effect_id
    )


@planted("an approver has no part in it", "by the runner's owner or the task's preparer")
def the_owner_of_the_runner_had_approved(world: World) -> None:
    granted = with_effect(world, **ONCE_ONLY)
    effect_id, _ = executing(world, granted)
    plant(
        "approval",
        "UPDATE claims_approval SET person_id = %s WHERE effect_id = %s",
        world.owner.pk,
        effect_id,
    )


@planted("the input digest is that of the input and its pins", "is not that of the input and the results")
def an_input_was_rewritten(world: World) -> None:
    plant(
        "taskinput",
        """UPDATE claims_taskinput SET body = body || '{"task": "Something else"}' WHERE task_id = %s""",
        done(world),
    )


@planted("a pin is the canonical commit of its predecessor", "is pinned to 0 results")
def a_pin_was_taken_out_with_its_digest(world: World) -> None:
    task_id = successor(world)
    plain = world.task()
    plant("pin", "DELETE FROM claims_pin WHERE task_id = %s", task_id)
    digest = task_row(plain).input_digest
    plant("task", "UPDATE claims_task SET input_digest = %s WHERE id = %s", digest, task_id)
    forge(task_id, 2, "body = jsonb_set(body, '{inputDigest}', to_jsonb(%s::text))", digest)


@planted("a task opens when all its predecessors are done", "was DONE")
def a_task_opened_before_its_predecessor_was_done(world: World) -> None:
    plant(
        "history", "UPDATE claims_history SET id = -1 WHERE task_id = %s AND verb = 'open'", successor(world)
    )


@planted("the task is where its history leads", "The task's state is OPEN; its history leads to HELD")
def a_held_task_was_opened_by_hand(world: World) -> None:
    granted = world.claimed()
    transitions.fail(world.caller(), granted.fence, "no way", False)
    plant("task", "UPDATE claims_task SET state = 'OPEN', reason = '' WHERE id = %s", granted.fence.task_id)


@planted("the task is where its history leads", "The task's attempts_used is 0; its history leads to 2")
def the_count_of_attempts_was_set_back(world: World) -> None:
    plant("task", "UPDATE claims_task SET attempts_used = 0 WHERE id = %s", released(world))


@planted("a lease stands for each claim and for nothing else", "The lease is of the attempt")
def a_claim_was_moved_to_another_runner(world: World) -> None:
    plant("task", "UPDATE claims_task SET runner_id = %s WHERE id = %s", world.agents[1].pk, released(world))


@planted("an attempt ended as history says", "ended as COMMITTED; its history says RELEASED")
def the_end_of_an_attempt_was_rewritten(world: World) -> None:
    plant(
        "attempt",
        "UPDATE claims_attempt SET outcome = 'COMMITTED' WHERE task_id = %s AND claim_generation = 1",
        released(world),
    )


@planted("no key is kept without its change", "and no such change is there")
def a_key_answered_a_commit_that_never_was(world: World) -> None:
    task_id = done(world)
    answer = ["Committed", {"task_id": str(task_id), "result_commit_id": str(uuid4())}]
    used_at = task_row(task_id).created_at
    IdempotencyKey.objects.create(holder="AGENT:1", key="k", verb="commit", answer=answer, used_at=used_at)
