"""Renew, claim-next and commit in one round trip each: they compare once more, in SQL (claim.v1 section 3)."""

from __future__ import annotations

from tests.support.mutants.mutant import SHORT, Mutant, tier

_FENCES = tier("transitions/fences", "transitions/fences_of_commits", "kernel/hot")
_CLAIMS = tier(
    "transitions/claim_next", "kernel/hot_tokens", "kernel/keys_in_use", "kernel/keys", "kernel/hot"
)
_COMMITS = tier(
    "transitions/fences_of_commits",
    "transitions/commits_in_graphs",
    "transitions/commits_with_effects",
    "transitions/handing_in",
    "kernel/hot",
)

_RACES = (
    "tests/race/test_deciding.py::test_a_write_that_waited_for_the_row_is_judged_by_the_epoch_after_the_wait",
)
_SAME_ANYWAY = {
    ("renew", "state"): "a task that is not CLAIMED has no lease, and without one there is nothing to renew",
    (
        "commit",
        "state",
    ): "a delivered attempt has staged a result, and who has staged before goes the long way",
}
_GENERATION = (
    "t.claim_generation <> p_generation\n        OR t.cancel_generation <> p_cancel OR t.runner_id <> p_agent"
)
_COMPARED = f"NOT FOUND OR t.state <> 'CLAIMED' OR t.attempt_id <> p_attempt OR {_GENERATION}"
_THEN = {"renew": "\n    THEN RETURN NULL", "commit": " OR t.input_digest <>"}
_FIELDS = {
    "state": ("the state", " OR t.state <> 'CLAIMED'"),
    "attempt": ("the attempt", " OR t.attempt_id <> p_attempt"),
    "claim-generation": ("the claim generation", " OR t.claim_generation <> p_generation\n       "),
    "cancel-generation": ("the cancel generation", " OR t.cancel_generation <> p_cancel"),
    "runner": ("the runner", " OR t.runner_id <> p_agent"),
}


def _field(verb: str, name: str) -> Mutant:
    """A field of the fence, taken out of the function that answers ``verb``."""
    what, check = _FIELDS[name]
    whole = _COMPARED + _THEN[verb]
    equivalent = _SAME_ANYWAY.get((verb, name), "")
    return Mutant(f"short-{verb}-{name}", f"{verb} in one round trip does not compare {what}", SHORT,
        whole, whole.replace(check, ""), _FENCES, equivalent)  # fmt: skip


def _other(verb: str, name: str, says: str, old: str, new: str = "", equivalent: str = "") -> Mutant:
    """Another condition of one function. ``old`` is in the file once."""
    tests = {"renew": _FENCES, "claim": _CLAIMS, "commit": _COMMITS}[verb]
    called = "claim-next" if verb == "claim" else verb
    return Mutant(
        f"short-{verb}-{name}", f"{called} in one round trip {says}", SHORT, old, new, tests, equivalent
    )


MUTANTS = (
    *(_field(verb, name) for verb in _THEN for name in _FIELDS),
    _other("renew", "scheduler-epoch", "does not compare the scheduler epoch",
        "AND x.scheduler_epoch = p_epoch AND a.id = p_attempt AND a", "AND a.id = p_attempt AND a"),
    _other("renew", "epoch-of-the-attempt", "does not compare the attempt's epoch",
        " AND a.scheduler_epoch = p_epoch AND p_seconds", " AND p_seconds"),
    _other("renew", "too-long", "does not look at what the pool gives", " AND p_seconds BETWEEN 1 AND x.max_ttl_seconds;", ";"),
    _other("renew", "window", "does not look at the window", "IF expires > p.window_ends_at THEN RETURN NULL; END IF;"),
    _other("renew", "shorter", "shortens a lease", "expires := greatest(expires, p.expires_at);"),
    Mutant("short-renew-unlocked", "renew in one round trip does not lock the row", SHORT,
        " FOR NO KEY UPDATE;\n    SELECT y.expires_at", ";\n    SELECT y.expires_at", _RACES),
    _other("commit", "scheduler-epoch", "does not compare the scheduler epoch",
        "AND x.scheduler_epoch = p_epoch AND x.allows_unreviewed", "AND x.allows_unreviewed"),
    _other("commit", "epoch-of-the-attempt", "does not compare the attempt's epoch",
        "AND a.id = p_attempt AND a.scheduler_epoch = p_epoch\n", "AND a.id = p_attempt\n"),
    _other("commit", "input-digest", "does not compare the input digest", " OR t.input_digest <> p_input_digest"),
    _other("commit", "reviewed", "commits what asks for a review", " OR t.review_policy <> 'NONE'"),
    _other("commit", "where-not-allowed", "commits where the pool wants reviews", " AND x.allows_unreviewed"),
    _other("commit", "with-effects", "does not look for effects", "\n        OR t.declares_effects"),
    _other("commit", "thin", "does not look for evidence", "            AND jsonb_array_length(coalesce(i.body->'evidence', '[]')) = 0\n"),
    _other("commit", "staged-before", "does not look for what was staged before",
        "            AND NOT EXISTS (SELECT 1 FROM claims_stagedresult s WHERE s.attempt_id = p_attempt)\n"),
    _other("commit", "opens-nothing", "does not look for successors",
        "            AND NOT EXISTS (SELECT 1 FROM claims_dependency d WHERE d.predecessor_lineage = t.lineage_id)\n"),
    _other("commit", "without-bump", "does not raise the generation", "claim_generation = p_generation + 1,", "claim_generation = p_generation,"),
    _other("claim", "old-epoch", "does not compare the epoch", "AND x.scheduler_epoch = p_epoch AND x.gate", "AND x.gate"),
    _other("claim", "draining", "does not look at the gate", " AND x.gate = 'OPEN'"),
    _other("claim", "disabled", "does not look whether the agent is disabled", " AND NOT y.is_disabled"),
    _other("claim", "elsewhere", "does not look whether the agent works in the pool",
        "y.id = p_agent AND m.agent_id = p_agent AND m.pool_id = p_pool AND", "y.id = p_agent AND m.id = (SELECT min(id) FROM claims_agentpool) AND"),
    _other("claim", "labels", "does not look at the labels again", " AND t.access::text[] <@ y.labels::text[]", equivalent="the labels are read twice with nothing to wait for in between, so no test can change them there"),
    _other("claim", "too-long", "does not look at what the pool gives",
        "            AND (p_ttl IS NULL OR p_ttl BETWEEN 1 AND x.max_ttl_seconds)\n"),
    _other("claim", "without-bump", "does not raise the generation",
        "        claim_generation = t.claim_generation + 1, history_hash", "        claim_generation = t.claim_generation, history_hash"),
    _other("claim", "revoked-token", "does not look whether the token still stands", "k.revoked_at IS NULL AND "),
    _other("claim", "key-in-use", "uses a key that is being used",
        "        IF NOT pg_try_advisory_xact_lock(p_lock) THEN RETURN NULL; END IF;\n"),
    _other("claim", "key-used", "uses a key that was used", "        IF FOUND THEN RETURN NULL; END IF;\n"),
)  # fmt: skip
