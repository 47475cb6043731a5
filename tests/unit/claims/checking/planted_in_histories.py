"""Corruptions of what history tells, and of who had authority."""

from __future__ import annotations

from django.db import connection

from claims import transitions
from tests.support.planting import forge, plant, rehash
from tests.support.world import World
from tests.unit.claims.checking.corrupting import done, planted, released


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
