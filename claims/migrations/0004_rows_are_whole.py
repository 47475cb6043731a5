"""The rules of a row of the hot path in one function a table, in the place of a CHECK and a trigger each.

PostgreSQL parses the text of every CHECK and of every trigger's condition again for each statement, and keeps
the plan of a function. A rule that is broken is told under its own name, as a CHECK of that name would be.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


def whole(table: str, columns: str, rules: str) -> str:
    """The function of a table's CHECK: true, or an error that names the first rule that is broken."""
    return f"""
CREATE FUNCTION claims_{table}_is_whole({columns}) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    broken text := CASE {rules} END;
BEGIN
    IF broken IS NULL THEN RETURN true; END IF;
    RAISE EXCEPTION 'new row for relation "claims_{table}" violates check constraint "%"', broken
        USING ERRCODE = 'check_violation', TABLE = 'claims_{table}', CONSTRAINT = broken;
END $$;
"""


TASK = whole(
    "task",
    "state text, review_policy text, reclaim_policy text, attempt uuid, runner bigint, delivery uuid, result_commit uuid, reason text,"
    " input_digest text, attempts_used int, max_attempts int",
    """
        WHEN state NOT IN ('CLAIMED', 'DONE', 'OPEN', 'DELIVERED', 'HELD', 'BLOCKED', 'CANCELLED', 'SUPERSEDED') THEN 'task_state_is_a_word'
        WHEN review_policy NOT IN ('REVIEW', 'NONE') THEN 'task_review_policy_is_a_word'
        WHEN reclaim_policy NOT IN ('MANUAL', 'AUTO') THEN 'task_reclaim_policy_is_a_word'
        WHEN (state IN ('CLAIMED', 'DELIVERED')) <> (attempt IS NOT NULL)
            OR (attempt IS NULL) <> (runner IS NULL) THEN 'task_authority_has_an_attempt'
        WHEN (state = 'DELIVERED') <> (delivery IS NOT NULL) THEN 'task_delivered_has_a_delivery'
        WHEN (state IN ('HELD', 'BLOCKED')) <> (reason <> '') THEN 'task_held_says_why'
        WHEN (state = 'DONE') <> (result_commit IS NOT NULL) THEN 'task_done_has_a_commit'
        WHEN input_digest IS NULL AND state NOT IN ('BLOCKED', 'CANCELLED', 'SUPERSEDED') THEN 'task_open_has_a_digest'
        WHEN attempts_used < 0 OR max_attempts < 1 THEN 'task_counts_attempts'
    """,
)

ATTEMPT = whole(
    "attempt",
    "outcome text, ended_at timestamptz",
    """
        WHEN (outcome IS NULL) <> (ended_at IS NULL) THEN 'attempt_ended_says_how'
        WHEN outcome NOT IN ('COMMITTED', 'DELIVERED', 'RELEASED', 'FAILED', 'LAPSED', 'FENCED', 'CANCELLED', 'SUPERSEDED')
            THEN 'attempt_outcome_is_a_word'
    """,
)

HISTORY = whole(
    "history",
    "actor_kind text, source text, verb text, validated text",
    """
        WHEN actor_kind NOT IN ('AGENT', 'PERSON', 'SYSTEM') THEN 'history_actor_kind_is_a_word'
        WHEN source NOT IN ('API', 'WORKER', 'WEB', 'COMMAND', 'SWEEP') THEN 'history_source_is_a_word'
        WHEN validated IS NULL AND (verb = 'reconcile' AND actor_kind = 'AGENT' OR verb IN ('claim', 'claim-next', 'release', 'fail',
            'deliver', 'commit', 'accept', 'prepare', 'execute', 'confirm', 'unknown', 'hand-back', 'abandon'))
            THEN 'history_acceptance_was_validated'
    """,
)

class Migration(migrations.Migration):

    dependencies = [
        ('claims', '0003_hot_verbs'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(TASK, "DROP FUNCTION claims_task_is_whole"),
        migrations.RunSQL(ATTEMPT, "DROP FUNCTION claims_attempt_is_whole"),
        migrations.RunSQL(HISTORY, "DROP FUNCTION claims_history_is_whole"),
        pgtrigger.migrations.RemoveTrigger(
            model_name='history',
            name='acceptance_was_validated',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='task',
            name='numbers_never_fall',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='task',
            name='one_version_a_change',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='task',
            name='authority_raises_generation',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='task',
            name='final_stays_final',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='task',
            name='identity_is_fixed',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='attempt',
            name='grant_is_fixed',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='attempt',
            name='ended_once',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='attempt',
            name='progress_was_validated',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='lease',
            name='lease_generation_only_rises',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='lease',
            name='renewal_was_validated',
        ),
        migrations.RemoveConstraint(
            model_name='attempt',
            name='attempt_outcome_is_a_word',
        ),
        migrations.RemoveConstraint(
            model_name='attempt',
            name='attempt_ended_says_how',
        ),
        migrations.RemoveConstraint(
            model_name='history',
            name='history_actor_kind_is_a_word',
        ),
        migrations.RemoveConstraint(
            model_name='history',
            name='history_source_is_a_word',
        ),
        migrations.RemoveConstraint(
            model_name='task',
            name='task_state_is_a_word',
        ),
        migrations.RemoveConstraint(
            model_name='task',
            name='task_review_policy_is_a_word',
        ),
        migrations.RemoveConstraint(
            model_name='task',
            name='task_reclaim_policy_is_a_word',
        ),
        migrations.RemoveConstraint(
            model_name='task',
            name='task_authority_has_an_attempt',
        ),
        migrations.RemoveConstraint(
            model_name='task',
            name='task_delivered_has_a_delivery',
        ),
        migrations.RemoveConstraint(
            model_name='task',
            name='task_held_says_why',
        ),
        migrations.RemoveConstraint(
            model_name='task',
            name='task_done_has_a_commit',
        ),
        migrations.RemoveConstraint(
            model_name='task',
            name='task_open_has_a_digest',
        ),
        migrations.RemoveConstraint(
            model_name='task',
            name='task_counts_attempts',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='task',
            trigger=pgtrigger.compiler.Trigger(name='guarded', sql=pgtrigger.compiler.UpsertTriggerSql(func="IF NEW.attempt_id IS DISTINCT FROM OLD.attempt_id AND NEW.claim_generation <> OLD.claim_generation + 1 THEN RAISE EXCEPTION 'a grant or a loss of authority raises the claim generation by one (claim.v1 section 2)' USING ERRCODE = 'check_violation'; END IF; IF NEW.state <> OLD.state AND OLD.state IN ('CANCELLED', 'DONE', 'SUPERSEDED') AND NOT (OLD.state = 'CANCELLED' AND NEW.state = 'SUPERSEDED') THEN RAISE EXCEPTION 'a final state is never left (claim.v1 section 2)' USING ERRCODE = 'check_violation'; END IF; IF NEW.id <> OLD.id OR NEW.number <> OLD.number OR NEW.pool_id <> OLD.pool_id OR NEW.lineage_id <> OLD.lineage_id OR NEW.revision <> OLD.revision OR (NEW.input_digest IS DISTINCT FROM OLD.input_digest AND OLD.input_digest IS NOT NULL) OR (NEW.result_commit_id IS DISTINCT FROM OLD.result_commit_id AND OLD.result_commit_id IS NOT NULL) THEN RAISE EXCEPTION 'the identity, the input digest and the canonical commit of a task are fixed (claim.v1 section 1)' USING ERRCODE = 'check_violation'; END IF; IF NEW.claim_generation < OLD.claim_generation OR NEW.cancel_generation < OLD.cancel_generation THEN RAISE EXCEPTION 'a claim or cancel generation never falls (claim.v1 section 1)' USING ERRCODE = 'check_violation'; END IF; IF NEW.state_version <> OLD.state_version + 1 OR NEW.history_hash = OLD.history_hash THEN RAISE EXCEPTION 'every change of a task raises its state version by one and extends its history (claim.v1 section 3)' USING ERRCODE = 'check_violation'; END IF; RETURN NEW;", hash='d4d076c58cc8229273e0980ca5348cf20eadfe59', operation='UPDATE', pgid='pgtrigger_guarded_ddd6d', table='claims_task', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='attempt',
            trigger=pgtrigger.compiler.Trigger(name='guarded', sql=pgtrigger.compiler.UpsertTriggerSql(func="IF NEW.id <> OLD.id OR NEW.task_id <> OLD.task_id OR NEW.agent_id <> OLD.agent_id OR NEW.owner_id <> OLD.owner_id OR NEW.claim_generation <> OLD.claim_generation OR NEW.scheduler_epoch <> OLD.scheduler_epoch OR NEW.cancel_generation <> OLD.cancel_generation THEN RAISE EXCEPTION 'what an attempt was granted is fixed (claim.v1 section 1)' USING ERRCODE = 'check_violation'; END IF; IF OLD.outcome IS NOT NULL AND NEW.outcome IS DISTINCT FROM OLD.outcome AND NOT (OLD.outcome = 'DELIVERED' AND NEW.outcome IN ('COMMITTED', 'FENCED', 'CANCELLED', 'SUPERSEDED')) THEN RAISE EXCEPTION 'an attempt ends once (claim.v1 section 2)' USING ERRCODE = 'check_violation'; END IF; IF NEW.noted_at IS DISTINCT FROM OLD.noted_at AND NEW.noted_under IS NULL THEN RAISE EXCEPTION 'progress is written with what its fence was compared with (claim.v1 section 1)' USING ERRCODE = 'check_violation'; END IF; RETURN NEW;", hash='8b9879dbcc8b1af425a4eda97b8f807b8ef45cce', operation='UPDATE', pgid='pgtrigger_guarded_e160b', table='claims_attempt', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='lease',
            trigger=pgtrigger.compiler.Trigger(name='guarded', sql=pgtrigger.compiler.UpsertTriggerSql(func="IF NEW.claim_generation < OLD.claim_generation OR (NEW.attempt_id <> OLD.attempt_id AND NEW.claim_generation = OLD.claim_generation) THEN RAISE EXCEPTION 'a lease passes to a newer grant only (claim.v1 section 1)' USING ERRCODE = 'check_violation'; END IF; IF NEW.renewals > OLD.renewals AND NEW.renewed_under IS NULL THEN RAISE EXCEPTION 'a renewal is written with what its fence was compared with (claim.v1 section 1)' USING ERRCODE = 'check_violation'; END IF; RETURN NEW;", hash='5bb9b9402c25fd2f802e900c7941a0d80d0368a8', operation='UPDATE', pgid='pgtrigger_guarded_d4a73', table='claims_lease', when='AFTER')),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.CheckConstraint(condition=models.Func('outcome', 'ended_at', function='claims_attempt_is_whole', output_field=models.BooleanField()), name='attempt_is_whole'),
        ),
        migrations.AddConstraint(
            model_name='history',
            constraint=models.CheckConstraint(condition=models.Func('actor_kind', 'source', 'verb', 'validated', function='claims_history_is_whole', output_field=models.BooleanField()), name='history_is_whole'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Func('state', 'review_policy', 'reclaim_policy', 'attempt', 'runner', 'delivery', 'result_commit_id', 'reason', 'input_digest', 'attempts_used', 'max_attempts', function='claims_task_is_whole', output_field=models.BooleanField()), name='task_is_whole'),
        ),
    ]
