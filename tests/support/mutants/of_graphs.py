"""Graphs, revisions, and what a commit opens (claim.v1 section 6)."""

from __future__ import annotations

from tests.support.mutants.mutant import DECIDE, GRAPHS, KERNEL, VERBS, Mutant, tier

_GRAPH, _LOCKING = f"{DECIDE}/graph.py", f"{KERNEL}/graph.py"
_RACES = ("tests/race/test_graphs.py",)

MUTANTS = (
    Mutant("opens-early", "one DONE predecessor opens a task", _GRAPH, "and all(one.state is State.DONE", "and any(one.state is State.DONE", GRAPHS),
    Mutant("commit-opens-nothing", "a runner's commit opens no successor", f"{VERBS}/delivering.py", "    settle_successors(caller, seen.task.lineage_id)\n", "", GRAPHS),
    Mutant("accept-opens-nothing", "an acceptance opens no successor", f"{VERBS}/deciding.py", "    settle_successors(caller, seen.task.lineage_id)\n", "",
        GRAPHS + tier("transitions/decisions")),
    Mutant("pins-not-digested", "the input digest says nothing of predecessors' results", f"{VERBS}/beginning.py",
        "{one.node_id: one.result_digest or \"\" for one in predecessors})", "{})", GRAPHS),
    Mutant("pins-not-kept", "an opened task keeps no pins", f"{VERBS}/beginning.py", "    keep_pins(seen.task.id, seen.predecessors)\n", "", GRAPHS),
    Mutant("stale-not-held", "a newer result leaves opened successors alone", _GRAPH,
        "if one.state is State.DONE and pins.get(one.lineage_id, one.task_id) != one.task_id", "if False", GRAPHS),
    Mutant("stale-done-unmarked", "a DONE successor is not marked as built on old input", _GRAPH,
        "return Change(Verb.OUTDATE, State.DONE, columns={\"is_stale\": True}, body=body)", "return Change(Verb.OUTDATE, State.DONE, body=body)", GRAPHS),
    Mutant("stale-requeued", "requeue opens a stale task with its old pins", f"{DECIDE}/operating.py", "    if seen.task.is_stale:\n", "    if False:\n", GRAPHS),
    Mutant("revise-an-old-one", "a revision that is not the newest is revised", _GRAPH, "if newest.task_id != seen.task.id:", "if False:", GRAPHS),
    Mutant("revise-moved", "the state version that was seen is not compared", _GRAPH, "if expected_state_version != seen.task.state_version:", "if False:", GRAPHS),
    Mutant("revision-starts-anew", "a revision does not carry the generation on", f"{VERBS}/revising.py", "            claim_generation=claim_generation,\n", "", GRAPHS),
    Mutant("revision-cancel-generation", "a revision does not carry the cancel generation on", f"{VERBS}/revising.py",
        "            cancel_generation=seen.task.cancel_generation,\n", "", GRAPHS),
    Mutant("acknowledge-twice", "an earlier effect is acknowledged twice", _GRAPH, "if earlier[0].counts is not None:", "if False:", GRAPHS + tier("transitions/effects", "decide/effects")),
    Mutant("predecessor-of-another-pool", "an edge joins two pools", f"{VERBS}/graphs.py", "TaskInput.objects.filter(task__pool_id=pool_id)", "TaskInput.objects.all()", GRAPHS),
    Mutant("two-nodes-of-one-name", "two nodes of a call have one name", f"{VERBS}/graphs.py", "    if twice:\n", "    if False:\n", GRAPHS),
    Mutant("successors-unlocked", "successors and predecessors are not locked", _LOCKING, "ORDER BY t.id FOR NO KEY UPDATE", "ORDER BY t.id", _RACES),
    Mutant("predecessors-not-reread", "predecessors are not read again under their locks", _LOCKING, "        after = newest(edges)\n", "        after = before\n", _RACES),
    Mutant("sweep-opens-nothing", "the sweep does not find what a commit left blocked", "claims/sweeps.py", "WHERE t.state = 'BLOCKED' AND NOT EXISTS", "WHERE false AND NOT EXISTS",
        GRAPHS + tier("sweeps")),
)  # fmt: skip
