"""Checks taken out of the code one at a time, and the test that turns red for each.

``python -m tests.support.mutants`` copies the tree, takes one check out, runs its test and wants
it to fail; with names, only those. The table of docs/explanation/proofs.md is held against
``MUTANTS`` by a test, so that neither names what is no longer there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = (
    "claims",
    "config",
    "reviews",
    "agents",
    "tests",
    "templates",
    "static",
    "docs",
    "manage.py",
    "pyproject.toml",
)
DECIDE, KERNEL, HOT = "claims/decide", "claims/kernel", "claims/migrations/0003_hot_verbs.py"
UNIT = "tests/unit/claims"
FENCE, FENCES = f"{UNIT}/decide/test_fence.py", f"{UNIT}/transitions/test_fences.py"
STATEMENTS = f"{UNIT}/kernel/test_statements.py"


@dataclass(frozen=True)
class Mutant:
    """One check, as it stands in the code and as it is when it is taken out."""

    name: str
    says: str
    path: str
    old: str
    new: str
    test: str

    def text(self) -> str:
        """The file without the check."""
        whole = (ROOT / self.path).read_text(encoding="utf-8")
        if whole.count(self.old) != 1:
            raise LookupError(f"{self.name}: {self.path} has {whole.count(self.old)} times: {self.old}")
        return whole.replace(self.old, self.new)

    def survives(self) -> bool:
        """Whether the test stays green without the check."""
        tables = "--create-db" if "migrations" in self.path else "--reuse-db"
        with tempfile.TemporaryDirectory() as folder:
            for each in COPIED:
                source, target = ROOT / each, Path(folder) / each
                ignored = shutil.ignore_patterns("__pycache__", "node_modules")
                shutil.copytree(source, target, ignore=ignored) if source.is_dir() else shutil.copy(
                    source, target
                )
            (Path(folder) / self.path).write_text(self.text(), encoding="utf-8")
            ran = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tables, self.test],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": folder, "FENCEPOST_TEST_DATABASE": "test_mutants"},
                capture_output=True,
                text=True,
                check=False,
            )
        if ran.returncode not in (0, 1):
            raise RuntimeError(f"{self.name}: the test did not run\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
        return ran.returncode == 0


def _field(name: str, says: str, old: str, new: str, test: str) -> Mutant:
    return Mutant(name, f"Fence: {says}", f"{DECIDE}/fence.py", old, new, f"{FENCE}::{test}")


def _short(verb: str, name: str, says: str, check: str, test: str) -> Mutant:
    """A field of the fence, taken out of the function that answers ``verb`` in one round trip."""
    whole = _COMPARED + _THEN[verb]
    return Mutant(
        f"{verb}-{name}",
        f"{verb.capitalize()} in one round trip: {says}",
        HOT,
        whole,
        whole.replace(check, ""),
        f"{FENCES}::{test}",
    )


_COMPARED = (
    "t.state <> 'CLAIMED' OR t.attempt_id <> p_attempt OR t.claim_generation <> p_generation OR t.cancel_generation <> p_cancel\n"
    "        OR t.runner_id <> p_agent OR p.scheduler_epoch <> p_epoch OR "
)
_THEN = {"renew": "p_seconds NOT BETWEEN", "commit": "t.input_digest <>"}
_FIELDS = (
    (
        "scheduler-epoch",
        "the scheduler epoch",
        " OR p.scheduler_epoch <> p_epoch",
        "test_a_fence_of_another_scheduler_epoch_changes_nothing",
    ),
    (
        "claim-generation",
        "the claim generation",
        " OR t.claim_generation <> p_generation",
        "test_a_fence_of_another_claim_generation_changes_nothing",
    ),
    (
        "cancel-generation",
        "the cancel generation",
        " OR t.cancel_generation <> p_cancel",
        "test_a_fence_of_another_cancel_generation_changes_nothing",
    ),
    (
        "runner",
        "the runner",
        " OR t.runner_id <> p_agent",
        "test_a_fence_in_another_runners_hands_changes_nothing",
    ),
)
_ATTEMPT = {
    "renew": "test_a_fence_of_another_attempt_changes_nothing",
    "commit": "test_a_result_under_the_fence_of_another_attempt_changes_nothing",
}
_SHORT = tuple(
    _short(verb, *field)
    for verb in _THEN
    for field in (*_FIELDS, ("attempt", "the attempt", " OR t.attempt_id <> p_attempt", _ATTEMPT[verb]))
)


MUTANTS = (
    _field(
        "scheduler-epoch", "the scheduler epoch", "if fence.scheduler_epoch != seen.pool.scheduler_epoch:", "if False:",
        "test_a_fence_from_an_earlier_scheduler_epoch_is_fenced",
    ),
    _field(
        "claim-generation", "the claim generation", "if fence.claim_generation != task.claim_generation:", "if False:",
        "test_a_fence_from_an_earlier_claim_generation_is_fenced",
    ),
    _field(
        "attempt", "the attempt", "if fence.attempt_id != task.attempt_id:", "if False:", "test_a_fence_of_another_attempt_is_fenced"
    ),
    _field(
        "runner", "the runner", "if agent_id != task.runner_id:", "if False:", "test_a_fence_in_the_hands_of_another_runner_is_fenced"
    ),
    _field(
        "cancel-generation", "the cancel generation", " or fence.cancel_generation != task.cancel_generation", "",
        "test_a_fence_of_another_cancel_generation_is_answered_with_cancelled",
    ),
    _field(
        "input-digest", "the input digest", " or (input_digest is not None and input_digest != task.input_digest)", "",
        "test_stale_input_answers_before_fenced",
    ),
    Mutant(
        "subject-digest", "The comparison of the subject digest", f"{DECIDE}/deciding.py",
        "if judgement.subject_digest != delivery.subject_digest:", "if False:",
        f"{UNIT}/decide/test_deciding.py::test_a_decision_must_repeat_the_subject_digest_that_was_seen",
    ),
    Mutant(
        "bump-on-release", "The generation bump on release", "claims/lifecycle.py",
        "*_loses(State.CLAIMED, Verb.RELEASE, State.OPEN, State.HELD),",
        "*(Edge(State.CLAIMED, Verb.RELEASE, target, raises=False) for target in (State.OPEN, State.HELD)),",
        f"{UNIT}/test_outcomes.py::test_every_edge_out_of_claimed_or_delivered_but_deliver_raises_the_generation",
    ),
    Mutant(
        "bump-in-the-write", "The generation bump where the write is made", f"{KERNEL}/writing.py",
        "seen.task.claim_generation + (1 if step.raises else 0)", "seen.task.claim_generation",
        f"{UNIT}/transitions/test_edges.py::test_an_edge_writes_one_history_row_and_raises_the_generation_where_the_table_says_so",
    ),
    Mutant(
        "row-lock", "The row lock", f"{KERNEL}/reading.py", "WHERE t.id = %s::uuid FOR NO KEY UPDATE", "WHERE t.id = %s::uuid",
        f"{STATEMENTS}::test_a_verb_locks_the_pool_then_the_row_and_then_reads_afresh",
    ),
    Mutant(
        "fresh-read", "The fresh read after the row lock", f"{KERNEL}/reading.py",
        "        locked = send(raw, _LOCK_TASK, (task_id,))\n        afresh = send(raw, _AFRESH, (task_id,))\n",
        "        afresh = send(raw, _AFRESH, (task_id,))\n        locked = send(raw, _LOCK_TASK, (task_id,))\n",
        f"{STATEMENTS}::test_a_verb_locks_the_pool_then_the_row_and_then_reads_afresh",
    ),
    Mutant(
        "row-lock-in-a-race", "The row lock, where claimers meet", f"{KERNEL}/reading.py",
        "WHERE t.id = %s::uuid FOR NO KEY UPDATE", "WHERE t.id = %s::uuid",
        "tests/race/test_claiming.py::test_an_expired_auto_claim_is_taken_by_exactly_one",
    ),
    Mutant(
        "fresh-read-in-a-race", "The fresh read, where a claim waits behind a raise", f"{KERNEL}/reading.py",
        "        locked = send(raw, _LOCK_TASK, (task_id,))\n        afresh = send(raw, _AFRESH, (task_id,))\n",
        "        afresh = send(raw, _AFRESH, (task_id,))\n        locked = send(raw, _LOCK_TASK, (task_id,))\n",
        "tests/race/test_claiming.py::test_a_claim_that_waited_for_the_row_reads_the_epoch_after_it_has_it",
    ),
    Mutant(
        "maker-is-not-checker", "The comparison of makers and reviewer", f"{DECIDE}/deciding.py",
        "if seen.person.id in delivery.makers and", "if False and",
        f"{UNIT}/decide/test_deciding.py::test_the_owner_of_the_agent_may_not_decide_not_even_as_administrator",
    ),
    Mutant(
        "thin-evidence", "The look for missing evidence", f"{DECIDE}/delivering.py", "if handover.missing:", "if False:",
        f"{UNIT}/decide/test_delivering.py::test_thin_evidence_lists_each_missing_item",
    ),
    Mutant(
        "used-up", "The look whether attempts are left", f"{DECIDE}/changes.py", "if not seen.attempts_are_used_up:", "if True:",
        f"{UNIT}/decide/test_operating.py::test_every_edge_to_open_goes_to_held_when_the_attempts_are_used_up",
    ),
    Mutant(
        "key-of-another-request", "The comparison of a key's verb and request", f"{KERNEL}/keys.py",
        'if row[0] != verb or row[1] != (caller.request_digest or ""):', "if False:",
        f"{UNIT}/kernel/test_keys.py::test_a_key_of_another_body_is_reused",
    ),
    *_SHORT,
)  # fmt: skip


def main(names: list[str]) -> int:
    """Run the mutants of these names, or all; the number of those that no test noticed."""
    wanted = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    survivors = 0
    for mutant in wanted:
        survived = mutant.survives()
        survivors += survived
        sys.stdout.write(f"{'SURVIVED' if survived else 'red':8} {mutant.name}: {mutant.test}\n")
        sys.stdout.flush()
    return survivors


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
