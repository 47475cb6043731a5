"""claim-next, renew and commit in one round trip each, for the case in which nothing is refused.

Each function takes the locks, reads afresh and writes in separate statements, as claim.v1
section 3 wants; in a VOLATILE function every statement has a snapshot of its own. A function
that finds any reason to refuse, or anything out of the ordinary, changes nothing and returns
no row: the caller then goes the long way, which decides and explains. So a function may say
yes only where ``decide`` says yes, and must write what ``kernel.advance`` would write.

Every statement goes by an index and by one plan: statistics of tables that were empty a moment
ago would choose a scan, and a plan made anew at each call costs more than the call.
"""

from django.db import migrations

LINK = """
CREATE FUNCTION claims_link(
    t claims_task, p_version bigint, p_verb text, p_to text, p_generation bigint, p_attempt uuid, p_agent bigint, p_agent_name text,
    p_source text, p_request text, p_at timestamptz, p_body text, p_validated text
) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
SELECT sha256(t.history_hash || convert_to('{"actor":["AGENT",' || p_agent || ',' || to_json(p_agent_name) || '],"at":"'
    || to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '+00:00","attemptId":"' || p_attempt
    || '","body":' || p_body || ',"claimGeneration":' || p_generation || ',"from":"' || t.state
    || '","requestId":' || to_json(p_request) || ',"source":"' || p_source || '","stateVersion":' || p_version
    || ',"taskId":"' || t.id || '","to":"' || p_to || '","validated":"' || p_validated
    || '","verb":"' || p_verb || '"}', 'UTF8'))
$$;
"""

KEY = """
CREATE FUNCTION claims_key_is_new(p_holder text, p_key text, p_lock bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF p_key IS NULL THEN RETURN true; END IF;
    IF NOT pg_try_advisory_xact_lock(p_lock) THEN RETURN false; END IF;
    RETURN NOT EXISTS (SELECT 1 FROM claims_idempotencykey k WHERE k.holder = p_holder AND k.key = p_key);
END $$;
"""

CLAIM_NEXT = """
CREATE FUNCTION claims_claim_next(
    p_pool bigint, p_agent bigint, p_epoch bigint, p_ttl int, p_attempt uuid, p_source text, p_request text,
    p_holder text, p_key text, p_lock bigint, p_digest text
) RETURNS TABLE (
    o_task uuid, o_epoch bigint, o_generation bigint, o_cancel bigint, o_input_digest text, o_version bigint,
    o_expires timestamptz, o_window timestamptz, o_number bigint, o_title text, o_rounds int, o_input jsonb
) LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    t claims_task; p claims_pool; g claims_agent; at timestamptz; seconds int; head bytea; works_here boolean; told text; compared text;
BEGIN
    IF NOT claims_key_is_new(p_holder, p_key, p_lock) THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock_shared(1179648001, p_pool::int), pg_advisory_xact_lock_shared(1179648002, p_agent::int);
    SELECT * INTO t FROM claims_task c WHERE c.state = 'OPEN' AND c.preferred_runner_id IS NOT NULL
        AND c.preferred_runner_id = p_agent AND c.pool_id = p_pool AND (c.not_before IS NULL OR c.not_before <= clock_timestamp())
        AND c.attempts_used < c.max_attempts AND c.access::text[] <@ (SELECT a.labels::text[] FROM claims_agent a WHERE a.id = p_agent)
        ORDER BY c.priority, c.number LIMIT 1 FOR NO KEY UPDATE OF c SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT * INTO t FROM claims_task c WHERE c.state = 'OPEN' AND c.pool_id = p_pool
            AND (c.not_before IS NULL OR c.not_before <= clock_timestamp())
            AND c.attempts_used < c.max_attempts AND c.access::text[] <@ (SELECT a.labels::text[] FROM claims_agent a WHERE a.id = p_agent)
            ORDER BY c.priority, c.number LIMIT 1 FOR NO KEY UPDATE OF c SKIP LOCKED;
    END IF;
    IF NOT FOUND THEN RETURN; END IF;

    SELECT x.scheduler_epoch, x.gate, x.max_ttl_seconds, x.window_seconds, y.name, y.owner_id, y.labels, y.is_disabled, i.body,
        EXISTS (SELECT 1 FROM claims_agentpool m WHERE m.agent_id = p_agent AND m.pool_id = p_pool), clock_timestamp()
        INTO p.scheduler_epoch, p.gate, p.max_ttl_seconds, p.window_seconds, g.name, g.owner_id, g.labels, g.is_disabled, o_input,
        works_here, at
        FROM claims_pool x, claims_agent y, claims_taskinput i WHERE x.id = p_pool AND y.id = p_agent AND i.task_id = t.id;
    IF p.scheduler_epoch <> p_epoch OR p.gate <> 'OPEN' OR g.is_disabled OR NOT t.access::text[] <@ g.labels::text[]
        OR t.not_before > at OR p_ttl NOT BETWEEN 1 AND p.max_ttl_seconds OR NOT works_here
    THEN RETURN; END IF;

    seconds := least(coalesce(p_ttl, t.ttl_seconds), p.max_ttl_seconds);
    o_task := t.id; o_epoch := p.scheduler_epoch; o_generation := t.claim_generation + 1; o_cancel := t.cancel_generation;
    o_input_digest := t.input_digest; o_version := t.state_version + 1; o_number := t.number; o_title := t.title; o_rounds := t.rounds;
    o_expires := at + make_interval(secs => seconds); o_window := at + make_interval(secs => p.window_seconds);
    compared := p_epoch || '.' || t.claim_generation || '.' || t.cancel_generation;
    told := '{"runner":' || to_json(g.name) || ',"schedulerEpoch":' || o_epoch || ',"ttlSeconds":' || seconds || '}';
    head := claims_link(t, o_version, 'claim-next', 'CLAIMED', o_generation, p_attempt, p_agent, g.name, p_source, p_request, at, told, compared);
    WITH begun AS (
        INSERT INTO claims_attempt (id, task_id, agent_id, owner_id, claim_generation, scheduler_epoch, cancel_generation, is_counted,
            granted_version, started_at, note)
        VALUES (p_attempt, t.id, p_agent, g.owner_id, o_generation, o_epoch, o_cancel, true, o_version, at, '')
    ), leased AS (
        INSERT INTO claims_lease (task_id, attempt_id, agent_id, claim_generation, ttl_seconds, expires_at, window_ends_at, renewals)
        VALUES (t.id, p_attempt, p_agent, o_generation, seconds, o_expires, o_window, 0)
    ), told AS (
        INSERT INTO claims_history (task_id, pool_id, state_version, verb, from_state, to_state, claim_generation, attempt_id,
            actor_kind, actor_id, actor_name, source, request_id, at, body, validated, hash)
        VALUES (t.id, t.pool_id, o_version, 'claim-next', t.state, 'CLAIMED', o_generation, p_attempt,
            'AGENT', p_agent, g.name, p_source, p_request, at, told::jsonb, compared, head)
    )
    UPDATE claims_task c SET state = 'CLAIMED', state_since = at, state_version = o_version, claim_generation = o_generation,
        history_hash = head, attempt_id = p_attempt, runner_id = p_agent, attempts_used = t.attempts_used + 1, preferred_runner_id = NULL
        WHERE c.id = t.id AND c.state_version = t.state_version;
    IF NOT FOUND THEN RAISE EXCEPTION 'task % moved under its lock', t.id; END IF;
    IF p_key IS NOT NULL THEN
        INSERT INTO claims_idempotencykey (holder, key, verb, request_digest, answer, used_at) VALUES (p_holder, p_key, 'claim-next', p_digest,
            jsonb_build_array('Grants', jsonb_build_object('grants', jsonb_build_array(jsonb_build_object(
                'fence', jsonb_build_object('task_id', t.id, 'attempt_id', p_attempt, 'scheduler_epoch', o_epoch,
                    'claim_generation', o_generation, 'cancel_generation', o_cancel),
                'input_digest', o_input_digest, 'state_version', o_version, 'lease_expires_at', o_expires, 'window_ends_at', o_window)))), at);
    END IF;
    RETURN NEXT;
END $$;
"""

RENEW = """
CREATE FUNCTION claims_renew(
    p_task uuid, p_attempt uuid, p_epoch bigint, p_generation bigint, p_cancel bigint, p_agent bigint, p_seconds int
) RETURNS TABLE (o_expires timestamptz, o_window timestamptz, o_recovered boolean, o_nudged boolean, o_remaining double precision)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    t claims_task; p claims_pool; l claims_lease; at timestamptz; pool bigint;
BEGIN
    SELECT c.pool_id INTO pool FROM claims_task c WHERE c.id = p_task;
    IF NOT FOUND THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock_shared(1179648001, pool::int);
    SELECT * INTO t FROM claims_task c WHERE c.id = p_task FOR NO KEY UPDATE;
    SELECT x.scheduler_epoch, x.max_ttl_seconds, y.expires_at, y.window_ends_at, y.renewals, y.nudged_at, clock_timestamp()
        INTO p.scheduler_epoch, p.max_ttl_seconds, l.expires_at, l.window_ends_at, l.renewals, l.nudged_at, at
        FROM claims_pool x LEFT JOIN claims_lease y ON y.task_id = p_task WHERE x.id = pool;
    IF t.state <> 'CLAIMED' OR t.attempt_id <> p_attempt OR t.claim_generation <> p_generation OR t.cancel_generation <> p_cancel
        OR t.runner_id <> p_agent OR p.scheduler_epoch <> p_epoch OR p_seconds NOT BETWEEN 1 AND p.max_ttl_seconds
        OR at + make_interval(secs => p_seconds) > l.window_ends_at
    THEN RETURN; END IF;

    o_expires := greatest(at + make_interval(secs => p_seconds), l.expires_at);
    o_window := l.window_ends_at; o_recovered := l.expires_at <= at; o_nudged := l.nudged_at IS NOT NULL;
    o_remaining := extract(epoch FROM o_expires - at);
    UPDATE claims_lease x SET expires_at = o_expires, renewals = l.renewals + 1,
        renewed_under = p_epoch || '.' || p_generation || '.' || p_cancel, renewed_at = at, nudged_at = NULL WHERE x.task_id = p_task;
    RETURN NEXT;
END $$;
"""

COMMIT = """
CREATE FUNCTION claims_commit(
    p_task uuid, p_attempt uuid, p_epoch bigint, p_generation bigint, p_cancel bigint, p_agent bigint, p_agent_name text,
    p_input_digest text, p_result_digest text, p_result jsonb, p_commit uuid, p_source text, p_request text,
    p_holder text, p_key text, p_lock bigint, p_digest text
) RETURNS TABLE (o_version bigint) LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    t claims_task; p claims_pool; at timestamptz; pool bigint; head bytea; told text; compared text; asks_for_more boolean;
BEGIN
    IF NOT claims_key_is_new(p_holder, p_key, p_lock) THEN RETURN; END IF;
    SELECT c.pool_id INTO pool FROM claims_task c WHERE c.id = p_task;
    IF NOT FOUND THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock_shared(1179648001, pool::int);
    SELECT * INTO t FROM claims_task c WHERE c.id = p_task FOR NO KEY UPDATE;
    SELECT x.scheduler_epoch, x.allows_unreviewed, jsonb_array_length(coalesce(i.body->'evidence', '[]')) > 0
            OR EXISTS (SELECT 1 FROM claims_dependency d WHERE d.predecessor_lineage = t.lineage_id), clock_timestamp()
        INTO p.scheduler_epoch, p.allows_unreviewed, asks_for_more, at
        FROM claims_pool x, claims_taskinput i WHERE x.id = pool AND i.task_id = p_task;
    IF t.state <> 'CLAIMED' OR t.attempt_id <> p_attempt OR t.claim_generation <> p_generation OR t.cancel_generation <> p_cancel
        OR t.runner_id <> p_agent OR p.scheduler_epoch <> p_epoch OR t.input_digest <> p_input_digest
        OR t.review_policy <> 'NONE' OR NOT p.allows_unreviewed
        OR t.declares_effects OR asks_for_more
    THEN RETURN; END IF;

    o_version := t.state_version + 1;
    compared := p_epoch || '.' || p_generation || '.' || p_cancel;
    told := '{"commit":"' || p_commit || '","resultDigest":"' || p_result_digest || '"}';
    head := claims_link(t, o_version, 'commit', 'DONE', p_generation + 1, p_attempt, p_agent, p_agent_name, p_source, p_request, at, told, compared);
    WITH staged AS (
        INSERT INTO claims_stagedresult (attempt_id, position, task_id, result_digest, result, evidence, late, validated, staged_at)
        SELECT p_attempt, (SELECT count(*) FROM claims_stagedresult s WHERE s.attempt_id = p_attempt), p_task, p_result_digest, p_result, '[]', false, compared, at WHERE NOT EXISTS
            (SELECT 1 FROM claims_stagedresult s WHERE s.attempt_id = p_attempt AND s.result_digest = p_result_digest)
    ), committed AS (
        INSERT INTO claims_canonicalcommit (commit_id, task_id, attempt_id, claim_generation, scheduler_epoch, cancel_generation,
            result_digest, committed_at)
        VALUES (p_commit, p_task, p_attempt, p_generation, p_epoch, p_cancel, p_result_digest, at)
    ), told AS (
        INSERT INTO claims_history (task_id, pool_id, state_version, verb, from_state, to_state, claim_generation, attempt_id,
            actor_kind, actor_id, actor_name, source, request_id, at, body, validated, hash)
        VALUES (t.id, t.pool_id, o_version, 'commit', t.state, 'DONE', p_generation + 1, p_attempt,
            'AGENT', p_agent, p_agent_name, p_source, p_request, at, told::jsonb, compared, head)
    ), ended AS (
        UPDATE claims_attempt a SET outcome = 'COMMITTED', ended_at = at WHERE a.id = p_attempt
    ), gone AS (
        DELETE FROM claims_lease l WHERE l.task_id = p_task
    )
    UPDATE claims_task c SET state = 'DONE', state_since = at, state_version = o_version, claim_generation = p_generation + 1,
        history_hash = head, attempt_id = NULL, runner_id = NULL, result_commit_id = p_commit
        WHERE c.id = p_task AND c.state_version = t.state_version;
    IF NOT FOUND THEN RAISE EXCEPTION 'task % moved under its lock', t.id; END IF;
    IF p_key IS NOT NULL THEN
        INSERT INTO claims_idempotencykey (holder, key, verb, request_digest, answer, used_at) VALUES (p_holder, p_key, 'commit', p_digest,
            jsonb_build_array('Committed', jsonb_build_object('result_commit_id', p_commit, 'task_id', p_task,
                'result_digest', p_result_digest, 'state_version', o_version)), at);
    END IF;
    RETURN NEXT;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("claims", "0002_storage")]

    operations = [
        migrations.RunSQL(LINK, "DROP FUNCTION claims_link"),
        migrations.RunSQL(KEY, "DROP FUNCTION claims_key_is_new"),
        migrations.RunSQL(CLAIM_NEXT, "DROP FUNCTION claims_claim_next"),
        migrations.RunSQL(RENEW, "DROP FUNCTION claims_renew"),
        migrations.RunSQL(COMMIT, "DROP FUNCTION claims_commit"),
    ]
