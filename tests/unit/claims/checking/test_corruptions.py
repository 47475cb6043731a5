"""Corruptions planted past every guard of the database: each is found, and named by one sentence."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.db import connection

from claims import checking, transitions
from claims.checking import Certificate, Violation
from claims.checking.running import names
from claims.models import CanonicalCommit, Decision, Delivery, IdempotencyKey
from claims.outcomes import EffectMoved
from claims.vocabulary import Said, Verb
from tests.support.effects import ONCE_ONLY, a_look, executing, permitted, prepared, with_effect
from tests.support.records import task_row, verbs_of
from tests.support.walks_of_graphs import finish, graph
from tests.support.world import World
from tests.unit.claims.checking.planting import forge, long_ago, plant, rehash

pytestmark = pytest.mark.django_db

Plant = Callable[[World], object]
PLANTED: dict[str, tuple[str, str, Plant]] = {}


def planted(invariant: str, sentence: str) -> Callable[[Plant], None]:
    """Register a corruption with the invariant that it breaks and a part of the sentence that says so."""

    def keep(function: Plant) -> None:
        name = function.__name__.strip("_").replace("_", " ")
        assert name not in PLANTED
        PLANTED[name] = (invariant, sentence, function)

    return keep


def done(world: World) -> UUID:
    """A task that was claimed, delivered and accepted."""
    task_id = world.task()
    finish(world, task_id)
    return task_id


def released(world: World) -> UUID:
    """A task that was claimed, given back, and claimed again."""
    granted = world.claimed()
    transitions.release(world.caller(), granted.fence, "night")
    return world.claimed(task_id=granted.fence.task_id).fence.task_id


def sent_twice(world: World) -> str:
    """An effect that did not happen the first time, and was permitted again."""
    granted = with_effect(world)
    effect_id, _ = executing(world, granted)
    long_ago(effect_id, 600)
    transitions.reconcile(world.caller(), granted.fence, effect_id, a_look(effect_id, Said.DID_NOT_HAPPEN))
    permitted(world, granted, effect_id)
    return effect_id


def successor(world: World) -> UUID:
    """A task that opened when its predecessor was DONE."""
    nodes = graph(world, first=(), second=("first",))
    finish(world, nodes["first"])
    return nodes["second"]


def version_of(task_id: UUID, verb: Verb) -> int:
    """Where a verb stands in a history for the last time."""
    verbs = verbs_of(task_id)
    return len(verbs) - verbs[::-1].index(verb)


@planted("versions run from one without a gap", "Version 3 is missing: the next row is version 4.")
def a_row_in_the_middle_was_taken_out(world: World) -> None:
    plant("history", "DELETE FROM claims_history WHERE task_id = %s AND state_version = 3", released(world))


@planted("versions run from one without a gap", "the history ends before the task does")
def the_last_row_was_cut_off(world: World) -> None:
    task_id = done(world)
    plant("history", "DELETE FROM claims_history WHERE task_id = %s AND verb = 'accept'", task_id)


@planted("every row is hashed with the row before it", "Version 3 is not what was written")
def a_reason_was_rewritten(world: World) -> None:
    plant(
        "history",
        """UPDATE claims_history SET body = body || '{"reason": "morning"}' WHERE task_id = %s AND verb = 'release'""",
        released(world),
    )


@planted("the task names the last row of its history", "does not name the last row")
def the_head_of_the_chain_was_replaced(world: World) -> None:
    plant("task", "UPDATE claims_task SET history_hash = sha256('other') WHERE id = %s", released(world))


@planted("every row is an edge of the contract", "goes from CLAIMED to DELIVERED, which is no edge")
def a_step_was_told_that_is_no_edge(world: World) -> None:
    delivery = world.delivered()
    forge(delivery.task_id, 3, "verb = 'accept'")


@planted(
    "every row begins where the one before ended", "begins in HELD, where the row before it ended in CLAIMED"
)
def a_step_began_elsewhere(world: World) -> None:
    forge(released(world), 3, "from_state = 'HELD'")


@planted(
    "the generation rises exactly where the edges say",
    "takes the claim generation from 1 to 1; it must raise it by one",
)
def a_loss_of_authority_raised_nothing(world: World) -> None:
    forge(released(world), 3, "claim_generation = 1")


@planted(
    "the cancel generation rises at a cancel and nowhere else",
    "at cancel generation 1; its history leads to 0",
)
def a_cancel_generation_was_raised_without_a_cancel(world: World) -> None:
    plant("task", "UPDATE claims_task SET cancel_generation = 1 WHERE id = %s", done(world))


@planted("after a cancel nothing is accepted", "Version 4 (reconcile) was accepted after the cancel")
def a_write_was_accepted_after_the_cancel(world: World) -> None:
    granted = world.claimed()
    task_id = granted.fence.task_id
    transitions.cancel(world.person(world.operator), task_id, "not wanted")
    plant(
        "history",
        "INSERT INTO claims_history (task_id, pool_id, state_version, verb, from_state, to_state, claim_generation, attempt_id, actor_kind,"
        " actor_id, actor_name, source, request_id, at, body, validated, hash) SELECT task_id, pool_id, 4, 'reconcile', to_state, to_state,"
        " claim_generation, attempt_id, 'AGENT', actor_id, actor_name, source, request_id, at, '{}', %s || '.2.1', sha256('x') FROM claims_history"
        " WHERE task_id = %s AND state_version = 3",
        str(world.epoch),
        task_id,
    )
    plant("task", "UPDATE claims_task SET state_version = 4 WHERE id = %s", task_id)
    rehash(task_id)


@planted("one attempt wins each generation", "2 attempts were granted claim generation 1")
def two_attempts_won_one_generation(world: World) -> None:
    task_id = released(world)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE claims_attempt DROP CONSTRAINT attempt_one_a_generation")
    plant("attempt", "UPDATE claims_attempt SET claim_generation = 1 WHERE task_id = %s", task_id)


@planted("every grant made exactly one attempt", "which is not there")
def the_attempt_of_a_grant_was_deleted(world: World) -> None:
    task_id = released(world)
    plant("attempt", "DELETE FROM claims_attempt WHERE task_id = %s AND claim_generation = 1", task_id)


@planted("an attempt is what its grant says", "its attempt has")
def an_attempt_was_given_to_another_agent(world: World) -> None:
    plant(
        "attempt",
        "UPDATE claims_attempt SET agent_id = %s WHERE task_id = %s AND claim_generation = 1",
        world.agents[1].pk,
        released(world),
    )


@planted("a claim was compared with what was current", "Version 2 (claim) was compared with 0.0.0")
def a_claim_was_compared_with_something_else(world: World) -> None:
    forge(released(world), 2, "validated = '0.0.0'")


@planted("what a fence accepted is what its attempt was granted", "Version 3 (deliver) was compared with")
def a_fence_was_accepted_that_was_not_granted(world: World) -> None:
    delivery = world.delivered()
    forge(delivery.task_id, 3, "validated = split_part(validated, '.', 1) || '.0.0'")


@planted("only the holder of the claim is accepted", "Version 5 (deliver) was accepted from the attempt")
def an_earlier_attempt_was_accepted(world: World) -> None:
    first = world.claimed()
    transitions.release(world.caller(), first.fence, "night")
    delivery = world.delivered(granted=world.claimed(task_id=first.fence.task_id))
    forge(delivery.task_id, 5, "attempt_id = %s", first.fence.attempt_id)


@planted("nothing is accepted below the pools epoch", "was accepted under epoch")
def a_write_was_accepted_after_the_epoch_had_been_raised(world: World) -> None:
    delivery = world.delivered()
    world.raise_epoch()
    plant(
        "poolevent",
        "INSERT INTO claims_poolevent (pool_id, verb, before, after, reason, actor_kind, actor_id, actor_name, source, request_id, at)"
        " SELECT p.id, 'raise-epoch', '0', p.scheduler_epoch::text, 'why', 'PERSON', 1, 'x', 'COMMAND', 'req', h.at - interval '1 microsecond'"
        " FROM claims_pool p JOIN claims_history h ON h.pool_id = p.id AND h.task_id = %s AND h.verb = 'deliver'",
        delivery.task_id,
    )


@planted("nothing is accepted after a higher epoch was", "after a write under")
def an_older_epoch_was_accepted_later(world: World) -> None:
    first = world.claimed()
    world.claimed()
    plant(
        "history",
        "UPDATE claims_history SET validated = '99999999.0.0' WHERE task_id = %s AND verb = 'claim'",
        first.fence.task_id,
    )


@planted("the epoch only rises", "it was raised to")
def the_epoch_of_a_pool_was_lowered(world: World) -> None:
    transitions.raise_epoch(world.person(world.operator), world.pool.name, world.epoch, "a restored backup")
    plant("pool", "UPDATE claims_pool SET scheduler_epoch = scheduler_epoch - 1 WHERE id = %s", world.pool.pk)


@planted("nothing is granted while the gate is closed", "granted a claim while the pool's gate was DRAINING")
def a_claim_was_granted_behind_a_closed_gate(world: World) -> None:
    task_id = released(world)
    plant(
        "poolevent",
        "INSERT INTO claims_poolevent (pool_id, verb, before, after, reason, actor_kind, actor_id, actor_name, source, request_id, at)"
        " SELECT pool_id, 'gate', 'OPEN', 'DRAINING', 'why', 'PERSON', 1, 'x', 'COMMAND', 'req', at FROM claims_history"
        " WHERE task_id = %s AND verb = 'release'",
        task_id,
    )


@planted("what is accepted beside history is what was granted", "A renewal was compared with 1.1.1")
def a_renewal_was_validated_by_another_fence(world: World) -> None:
    granted = world.claimed()
    transitions.renew(world.caller(), granted.fence, 60)
    plant(
        "lease", "UPDATE claims_lease SET renewed_under = '1.1.1' WHERE task_id = %s", granted.fence.task_id
    )


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


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_corruption_is_found_and_named(world: World, name: str) -> None:
    invariant, sentence, corrupt = PLANTED[name]
    corrupt(world)
    found = checking.check()
    assert isinstance(found, Violation), found
    assert (found.invariant, sentence in found.sentence) == (invariant, True), found


def test_what_the_corruptions_begin_with_is_certified(world: World) -> None:
    for begin in (done, released, sent_twice, successor):
        begin(world)
    executing(world, with_effect(world, **ONCE_ONLY))
    found = checking.check()
    assert isinstance(found, Certificate), found


def test_there_are_at_least_twenty() -> None:
    assert len(PLANTED) >= 20
    assert not {invariant for invariant, _, _ in PLANTED.values()} - set(names(True))
