"""What the tables refuse by themselves, also to psql (claim.v1 sections 1, 2, 5 and 7)."""

from __future__ import annotations

from tests.support.mutants.mutant import GUARDS, GUARDS_OF_EFFECTS, ROWS, TABLES, Mutant, tier

_VALIDATED = tier("checking/validated")


def _trigger(trigger: str, says: str, tests: tuple[str, ...] = GUARDS) -> Mutant:
    """A trigger that is there and refuses nothing."""
    old = f"name='{trigger}', sql=pgtrigger.compiler.UpsertTriggerSql(condition="
    return Mutant(f"guard-{trigger.replace('_', '-')}", says, TABLES, old, f"{old}'WHEN (false)' or ", tests)


def _guard(name: str, says: str, condition: str, tests: tuple[str, ...] = GUARDS) -> Mutant:
    """One rule of the function that guards every change of a task, a lease or an attempt."""
    return Mutant(f"guard-{name}", says, ROWS, f"IF {condition} THEN", "IF false THEN", tests)


def _whole(name: str, says: str, rule: str) -> Mutant:
    """One rule of a function that looks at a whole row."""
    return Mutant(
        f"row-{name}", says, ROWS, f"WHEN {rule}", f"WHEN false AND {rule}", GUARDS + GUARDS_OF_EFFECTS
    )


MUTANTS = (
    _guard("numbers-never-fall", "a generation may be lowered",
        "NEW.claim_generation < OLD.claim_generation OR NEW.cancel_generation < OLD.cancel_generation"),
    _guard("one-version-a-change", "a task changes without its state version",
        "NEW.state_version <> OLD.state_version + 1 OR NEW.history_hash = OLD.history_hash"),
    _guard("authority-raises-generation", "an attempt begins or ends without a new generation",
        "NEW.attempt_id IS DISTINCT FROM OLD.attempt_id AND NEW.claim_generation <> OLD.claim_generation + 1"),
    _guard("final-stays-final", "a final state may be left",
        "NEW.state <> OLD.state AND OLD.state IN ('CANCELLED', 'DONE', 'SUPERSEDED') AND NOT (OLD.state = 'CANCELLED' AND NEW.state = 'SUPERSEDED')"),
    Mutant("guard-input-digest-is-fixed", "an input digest may be exchanged", ROWS,
        " OR (NEW.input_digest IS DISTINCT FROM OLD.input_digest AND OLD.input_digest IS NOT NULL)", "", GUARDS),
    Mutant("guard-commit-is-fixed", "a canonical commit may be exchanged", ROWS,
        " OR (NEW.result_commit_id IS DISTINCT FROM OLD.result_commit_id AND OLD.result_commit_id IS NOT NULL)", "", GUARDS),
    _whole("authority-has-an-attempt", "a task is CLAIMED without an attempt", "(state IN ('CLAIMED', 'DELIVERED')) <> (attempt IS NOT NULL)"),
    _whole("delivered-has-a-delivery", "a task is DELIVERED without a delivery", "(state = 'DELIVERED') <> (delivery IS NOT NULL)"),
    _whole("held-says-why", "a task is HELD without a reason", "(state IN ('HELD', 'BLOCKED')) <> (reason <> '')"),
    _whole("done-has-a-commit", "a task is DONE without a commit", "(state = 'DONE') <> (result_commit IS NOT NULL)"),
    _whole("acceptance-was-validated", "an acceptance is written without what was compared",
        "validated IS NULL AND (verb = 'reconcile'"),
    _trigger("epoch_never_falls", "an epoch may be lowered"),
    _guard("lease-generation-only-rises", "a lease may pass to an older grant",
        "NEW.claim_generation < OLD.claim_generation OR (NEW.attempt_id <> OLD.attempt_id AND NEW.claim_generation = OLD.claim_generation)"),
    _guard("renewal-was-validated", "a renewal is written without what was compared",
        "NEW.renewals > OLD.renewals AND NEW.renewed_under IS NULL", _VALIDATED),
    _guard("grant-is-fixed", "what an attempt was granted may change",
        "NEW.id <> OLD.id OR NEW.task_id <> OLD.task_id OR NEW.agent_id <> OLD.agent_id OR NEW.owner_id <> OLD.owner_id"
        " OR NEW.claim_generation <> OLD.claim_generation OR NEW.scheduler_epoch <> OLD.scheduler_epoch OR NEW.cancel_generation <> OLD.cancel_generation"),
    _guard("ended-once", "an attempt ends twice", "OLD.outcome IS NOT NULL AND NEW.outcome IS DISTINCT FROM OLD.outcome"
        " AND NOT (OLD.outcome = 'DELIVERED' AND NEW.outcome IN ('COMMITTED', 'FENCED', 'CANCELLED', 'SUPERSEDED'))"),
    _guard("progress-was-validated", "progress is written without what was compared",
        "NEW.noted_at IS DISTINCT FROM OLD.noted_at AND NEW.noted_under IS NULL", _VALIDATED),
    _trigger("subject_is_fixed", "what was delivered may change"),
    _trigger("decided_once", "a delivery is decided twice in the tables"),
    _trigger("payload_is_bound", "a bound payload may be exchanged", GUARDS_OF_EFFECTS),
    _trigger("settled_stays_settled", "a settled effect may move", GUARDS_OF_EFFECTS),
    _trigger("no_effect_from_nowhere", "an effect is executed without a permit of its own", GUARDS_OF_EFFECTS),
    _trigger("approval_is_bound", "an approval may be bound to something else", GUARDS_OF_EFFECTS),
    Mutant("guard-first-one-did-not-happen", "a second permit needs no DID_NOT_HAPPEN", TABLES,
        "IF NEW.number > 1 AND NOT EXISTS", "IF false AND NOT EXISTS", GUARDS_OF_EFFECTS),
)  # fmt: skip
