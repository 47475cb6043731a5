"""claim-next, renew and commit in one round trip each, for the case in which nothing is refused.

Each function takes the locks, reads afresh and writes in separate statements, as claim.v1
section 3 wants; in a VOLATILE function every statement has a snapshot of its own. A function
that finds any reason to refuse, or anything out of the ordinary, changes nothing and returns
NULL: the caller then goes the long way, which decides and explains. So a function may say
yes only where ``decide`` says yes, and must write what ``kernel.advance`` would write.

Every statement goes by an index, in the index's order, and by one plan: statistics of tables that
were empty a moment ago would choose a scan, guesses at how few tasks fit would sort a whole pool for
one of them, and a plan made anew at each call costs more than the call. What starts the executor is
counted: conditions stand in the fresh read, and the answer is one JSON text.
"""

from django.db import migrations


def link(verb: str, before: str, after: str, generation: str, actor: str) -> str:
    """The SQL of a history row's hash: SHA-256 of the hash before it and of its canonical JSON (``kernel.chain``).

    Written out where it is used, because a function of its own costs more than all it computes.
    """
    return f"""sha256(t.history_hash || convert_to('{{"actor":["AGENT",' || p_agent || ',' || {actor} || '],"at":"'
        || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '+00:00","attemptId":"' || p_attempt
        || '","body":' || told || ',"claimGeneration":' || {generation} || ',"from":"{before}","requestId":' || to_json(p_request)
        || ',"source":"' || p_source || '","stateVersion":' || t.state_version + 1 || ',"taskId":"' || t.id
        || '","to":"{after}","validated":"' || compared || '","verb":"{verb}"}}', 'UTF8'))"""


ONE_PLAN = "SET enable_seqscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan"

IS_NEW = """IF p_key IS NOT NULL THEN
        IF NOT pg_try_advisory_xact_lock(p_lock) THEN RETURN NULL; END IF;
        PERFORM FROM claims_idempotencykey k WHERE k.holder = p_holder AND k.key = p_key;
        IF FOUND THEN RETURN NULL; END IF;
    END IF;"""

STANDS = """(p_token IS NULL OR EXISTS (SELECT 1 FROM claims_token k, claims_agentpool m WHERE k.id = p_token AND k.agent_id = p_agent
        AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()) AND m.agent_id = p_agent AND m.pool_id = x.id))"""

FOUND = """c.id, c.number, c.title, c.state_version, c.claim_generation, c.cancel_generation, c.input_digest, c.access, c.not_before,
        c.ttl_seconds, c.attempts_used, c.rounds, c.history_hash"""

CLAIM_NEXT = f"""
CREATE FUNCTION claims_claim_next(
    p_pool bigint, p_agent bigint, p_epoch bigint, p_ttl int, p_attempt uuid, p_source text, p_request text,
    p_holder text, p_key text, p_lock bigint, p_digest text, p_token bigint
) RETURNS text LANGUAGE plpgsql VOLATILE {ONE_PLAN} AS $$
DECLARE
    t record; p record; at timestamptz; expires timestamptz; ends timestamptz; labels text[]; is_preferred boolean; told text; head bytea;
    compared text;
BEGIN
    {IS_NEW}
    IF pg_advisory_xact_lock_shared(1179648001, p_pool::int) IS NULL OR pg_advisory_xact_lock_shared(1179648002, p_agent::int) IS NULL
    THEN RETURN NULL; END IF;  -- a lock's answer is void, which is not null: both are taken, in this order
    SELECT a.labels::text[], EXISTS (SELECT 1 FROM claims_task c WHERE c.state = 'OPEN' AND c.preferred_runner_id IS NOT NULL
            AND c.preferred_runner_id = p_agent AND c.pool_id = p_pool)
        INTO labels, is_preferred FROM claims_agent a WHERE a.id = p_agent;
    IF is_preferred THEN
        SELECT {FOUND} INTO t FROM claims_task c WHERE c.state = 'OPEN' AND c.preferred_runner_id IS NOT NULL
            AND c.preferred_runner_id = p_agent AND c.pool_id = p_pool AND (c.not_before IS NULL OR c.not_before <= clock_timestamp())
            AND c.attempts_used < c.max_attempts AND c.access::text[] <@ labels
            ORDER BY c.priority, c.number LIMIT 1 FOR NO KEY UPDATE OF c SKIP LOCKED;
        is_preferred := FOUND;
    END IF;
    IF is_preferred IS NOT TRUE THEN
        SELECT {FOUND} INTO t FROM claims_task c WHERE c.state = 'OPEN' AND c.pool_id = p_pool
            AND (c.not_before IS NULL OR c.not_before <= clock_timestamp())
            AND c.attempts_used < c.max_attempts AND c.access::text[] <@ labels
            ORDER BY c.priority, c.number LIMIT 1 FOR NO KEY UPDATE OF c SKIP LOCKED;
        IF NOT FOUND THEN RETURN NULL; END IF;
    END IF;

    SELECT y.name, to_json(y.name)::text AS quoted, y.owner_id, least(coalesce(p_ttl, t.ttl_seconds), x.max_ttl_seconds) AS seconds,
            x.window_seconds, i.body,
            EXISTS (SELECT 1 FROM claims_pin n WHERE n.task_id = t.id) AS is_pinned, clock_timestamp() AS now INTO p
        FROM claims_pool x, claims_agent y, claims_agentpool m, claims_taskinput i
        WHERE x.id = p_pool AND y.id = p_agent AND m.agent_id = p_agent AND m.pool_id = p_pool AND i.task_id = t.id
            AND x.scheduler_epoch = p_epoch AND x.gate = 'OPEN' AND NOT y.is_disabled AND t.access::text[] <@ y.labels::text[]
            AND (p_ttl IS NULL OR p_ttl BETWEEN 1 AND x.max_ttl_seconds)
            AND {STANDS};
    IF NOT FOUND OR t.not_before > p.now THEN RETURN NULL; END IF;

    at := p.now; expires := at + make_interval(secs => p.seconds); ends := at + make_interval(secs => p.window_seconds);
    compared := p_epoch || '.' || t.claim_generation || '.' || t.cancel_generation;
    told := '{{"runner":' || p.quoted || ',"schedulerEpoch":' || p_epoch || ',"ttlSeconds":' || p.seconds || '}}';
    head := {link("claim-next", "OPEN", "CLAIMED", "t.claim_generation + 1", "p.quoted")};
    WITH begun AS (
        INSERT INTO claims_attempt (id, task_id, agent_id, owner_id, claim_generation, scheduler_epoch, cancel_generation, is_counted,
            granted_version, started_at, note)
        VALUES (p_attempt, t.id, p_agent, p.owner_id, t.claim_generation + 1, p_epoch, t.cancel_generation, true, t.state_version + 1, at, '')
    ), leased AS (
        INSERT INTO claims_lease (task_id, attempt_id, agent_id, claim_generation, ttl_seconds, expires_at, window_ends_at, renewals)
        VALUES (t.id, p_attempt, p_agent, t.claim_generation + 1, p.seconds, expires, ends, 0)
    ), told AS (
        INSERT INTO claims_history (task_id, pool_id, state_version, verb, from_state, to_state, claim_generation, attempt_id,
            actor_kind, actor_id, actor_name, source, request_id, at, body, validated, hash)
        VALUES (t.id, p_pool, t.state_version + 1, 'claim-next', 'OPEN', 'CLAIMED', t.claim_generation + 1, p_attempt,
            'AGENT', p_agent, p.name, p_source, p_request, at, told::jsonb, compared, head)
    )
    UPDATE claims_task c SET state = 'CLAIMED', state_since = at, state_version = t.state_version + 1,
        claim_generation = t.claim_generation + 1, history_hash = head, attempt_id = p_attempt, runner_id = p_agent,
        attempts_used = t.attempts_used + 1, preferred_runner_id = NULL
        WHERE c.id = t.id AND c.state_version = t.state_version;
    IF NOT FOUND THEN RAISE EXCEPTION 'task % moved under its lock', t.id; END IF;
    IF p_key IS NOT NULL THEN
        INSERT INTO claims_idempotencykey (holder, key, verb, request_digest, answer, used_at) VALUES (p_holder, p_key, 'claim-next', p_digest,
            jsonb_build_array('Grants', jsonb_build_object('grants', jsonb_build_array(jsonb_build_object(
                'fence', jsonb_build_object('task_id', t.id, 'attempt_id', p_attempt, 'scheduler_epoch', p_epoch,
                    'claim_generation', t.claim_generation + 1, 'cancel_generation', t.cancel_generation),
                'input_digest', t.input_digest, 'state_version', t.state_version + 1, 'lease_expires_at', expires,
                'window_ends_at', ends)))), at);
    END IF;
    RETURN json_build_array(t.id, p_epoch, t.claim_generation + 1, t.cancel_generation, t.input_digest, t.state_version + 1, expires, ends,
        t.number, t.title, t.rounds, p.body, p.is_pinned);
END $$;
"""  # noqa: S608 - joined from the literals above

RENEW = f"""
CREATE FUNCTION claims_renew(
    p_task uuid, p_attempt uuid, p_epoch bigint, p_generation bigint, p_cancel bigint, p_agent bigint, p_seconds int
) RETURNS text LANGUAGE plpgsql VOLATILE {ONE_PLAN} AS $$
DECLARE
    t record; p record; pool bigint; expires timestamptz;
BEGIN
    SELECT c.pool_id INTO pool FROM claims_task c WHERE c.id = p_task;
    IF pg_advisory_xact_lock_shared(1179648001, pool::int) IS NULL THEN RETURN NULL; END IF;
    SELECT c.state, c.attempt_id, c.claim_generation, c.cancel_generation, c.runner_id INTO t
        FROM claims_task c WHERE c.id = p_task FOR NO KEY UPDATE;
    SELECT y.expires_at, y.window_ends_at, y.renewals, y.nudged_at IS NOT NULL AS nudged, clock_timestamp() AS at INTO p
        FROM claims_pool x, claims_lease y, claims_attempt a WHERE x.id = pool AND y.task_id = p_task
            AND x.scheduler_epoch = p_epoch AND a.id = p_attempt AND a.scheduler_epoch = p_epoch AND p_seconds BETWEEN 1 AND x.max_ttl_seconds;
    IF NOT FOUND OR t.state <> 'CLAIMED' OR t.attempt_id <> p_attempt OR t.claim_generation <> p_generation
        OR t.cancel_generation <> p_cancel OR t.runner_id <> p_agent
    THEN RETURN NULL; END IF;
    expires := p.at + make_interval(secs => p_seconds);
    IF expires > p.window_ends_at THEN RETURN NULL; END IF;

    expires := greatest(expires, p.expires_at);
    UPDATE claims_lease x SET expires_at = expires, renewals = p.renewals + 1,
        renewed_under = p_epoch || '.' || p_generation || '.' || p_cancel, renewed_at = p.at, nudged_at = NULL WHERE x.task_id = p_task;
    RETURN json_build_array(expires, p.window_ends_at, p.expires_at <= p.at, p.nudged, extract(epoch FROM expires - p.at));
END $$;
"""  # noqa: S608 - joined from the literals above

COMMIT = f"""
CREATE FUNCTION claims_commit(
    p_task uuid, p_attempt uuid, p_epoch bigint, p_generation bigint, p_cancel bigint, p_agent bigint, p_agent_name text,
    p_input_digest text, p_result_digest text, p_result jsonb, p_commit uuid, p_source text, p_request text,
    p_holder text, p_key text, p_lock bigint, p_digest text, p_token bigint
) RETURNS text LANGUAGE plpgsql VOLATILE {ONE_PLAN} AS $$
DECLARE
    t record; at timestamptz; pool bigint; head bytea; told text; compared text;
BEGIN
    {IS_NEW}
    SELECT c.pool_id INTO pool FROM claims_task c WHERE c.id = p_task;
    IF pg_advisory_xact_lock_shared(1179648001, pool::int) IS NULL THEN RETURN NULL; END IF;
    SELECT c.id, c.state, c.state_version, c.attempt_id, c.claim_generation, c.cancel_generation, c.runner_id, c.input_digest,
        c.review_policy, c.declares_effects, c.lineage_id, c.history_hash INTO t
        FROM claims_task c WHERE c.id = p_task FOR NO KEY UPDATE;
    SELECT clock_timestamp() INTO at FROM claims_pool x, claims_taskinput i, claims_attempt a
        WHERE x.id = pool AND i.task_id = p_task AND x.scheduler_epoch = p_epoch AND x.allows_unreviewed
            AND a.id = p_attempt AND a.scheduler_epoch = p_epoch
            AND jsonb_array_length(coalesce(i.body->'evidence', '[]')) = 0
            AND NOT EXISTS (SELECT 1 FROM claims_stagedresult s WHERE s.attempt_id = p_attempt)
            AND NOT EXISTS (SELECT 1 FROM claims_dependency d WHERE d.predecessor_lineage = t.lineage_id)
            AND {STANDS};
    IF NOT FOUND OR t.state <> 'CLAIMED' OR t.attempt_id <> p_attempt OR t.claim_generation <> p_generation
        OR t.cancel_generation <> p_cancel OR t.runner_id <> p_agent OR t.input_digest <> p_input_digest OR t.review_policy <> 'NONE'
        OR t.declares_effects
    THEN RETURN NULL; END IF;

    compared := p_epoch || '.' || p_generation || '.' || p_cancel;
    told := '{{"commit":"' || p_commit || '","resultDigest":"' || p_result_digest || '"}}';
    head := {link("commit", "CLAIMED", "DONE", "p_generation + 1", "to_json(p_agent_name)")};
    WITH staged AS (
        INSERT INTO claims_stagedresult (attempt_id, position, task_id, result_digest, result, evidence, late, validated, staged_at)
        VALUES (p_attempt, 0, p_task, p_result_digest, p_result, '[]', false, compared, at)
    ), committed AS (
        INSERT INTO claims_canonicalcommit (commit_id, task_id, attempt_id, claim_generation, scheduler_epoch, cancel_generation,
            result_digest, committed_at)
        VALUES (p_commit, p_task, p_attempt, p_generation, p_epoch, p_cancel, p_result_digest, at)
    ), told AS (
        INSERT INTO claims_history (task_id, pool_id, state_version, verb, from_state, to_state, claim_generation, attempt_id,
            actor_kind, actor_id, actor_name, source, request_id, at, body, validated, hash)
        VALUES (p_task, pool, t.state_version + 1, 'commit', 'CLAIMED', 'DONE', p_generation + 1, p_attempt,
            'AGENT', p_agent, p_agent_name, p_source, p_request, at, told::jsonb, compared, head)
    ), ended AS (
        UPDATE claims_attempt a SET outcome = 'COMMITTED', ended_at = at WHERE a.id = p_attempt
    ), gone AS (
        DELETE FROM claims_lease l WHERE l.task_id = p_task
    )
    UPDATE claims_task c SET state = 'DONE', state_since = at, state_version = t.state_version + 1, claim_generation = p_generation + 1,
        history_hash = head, attempt_id = NULL, runner_id = NULL, result_commit_id = p_commit
        WHERE c.id = p_task AND c.state_version = t.state_version;
    IF NOT FOUND THEN RAISE EXCEPTION 'task % moved under its lock', p_task; END IF;
    IF p_key IS NOT NULL THEN
        INSERT INTO claims_idempotencykey (holder, key, verb, request_digest, answer, used_at) VALUES (p_holder, p_key, 'commit', p_digest,
            jsonb_build_array('Committed', jsonb_build_object('result_commit_id', p_commit, 'task_id', p_task,
                'result_digest', p_result_digest, 'state_version', t.state_version + 1)), at);
    END IF;
    RETURN t.state_version + 1;
END $$;
"""  # noqa: S608 - joined from the literals above


class Migration(migrations.Migration):
    dependencies = [("claims", "0002_storage")]

    operations = [
        migrations.RunSQL(CLAIM_NEXT, "DROP FUNCTION claims_claim_next"),
        migrations.RunSQL(RENEW, "DROP FUNCTION claims_renew"),
        migrations.RunSQL(COMMIT, "DROP FUNCTION claims_commit"),
    ]
