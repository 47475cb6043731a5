"""The statements that read a batch of tasks. The first column of each is the task's id.

Each goes by an index on the task (or its attempts), so a batch costs what its own rows cost.
"""

from __future__ import annotations

from typing import LiteralString

TASKS: LiteralString = """SELECT t.id, t.number, t.pool_id, t.lineage_id, t.revision, t.node_id, t.state, t.reason, t.state_version,
 t.claim_generation, t.cancel_generation, t.attempts_used, t.rounds, t.attempt_id, t.runner_id, t.delivery_id, t.result_commit_id,
 t.input_digest, t.is_stale, t.preparer_id, t.history_hash
 FROM claims_task t WHERE t.id > %s::uuid AND t.id <= %s::uuid AND (%s::bigint IS NULL OR t.pool_id = %s::bigint)
 AND (%s::uuid IS NULL OR t.id = %s::uuid) ORDER BY t.id LIMIT %s::int"""

HISTORY: LiteralString = """SELECT h.task_id, h.id, h.pool_id, h.task_id, h.state_version, h.verb, h.from_state, h.to_state,
 h.claim_generation, h.attempt_id, h.actor_kind, h.actor_id, h.actor_name, h.source, h.request_id, h.at, h.validated, h.hash, h.body
 FROM claims_history h WHERE h.task_id = ANY(%s::uuid[]) ORDER BY h.task_id, h.state_version"""

INPUTS: LiteralString = "SELECT i.task_id, i.body FROM claims_taskinput i WHERE i.task_id = ANY(%s::uuid[])"

ATTEMPTS: LiteralString = """SELECT a.task_id, a.id, a.agent_id, coalesce(g.name, ''), a.owner_id, a.claim_generation,
 a.scheduler_epoch, a.cancel_generation, a.is_counted, a.granted_version, a.outcome, a.noted_under
 FROM claims_attempt a LEFT JOIN claims_agent g ON g.id = a.agent_id
 WHERE a.task_id = ANY(%s::uuid[]) ORDER BY a.task_id, a.claim_generation"""

LEASES: LiteralString = """SELECT l.task_id, l.attempt_id, l.agent_id, l.claim_generation, l.renewed_under
 FROM claims_lease l WHERE l.task_id = ANY(%s::uuid[])"""

COMMITS: LiteralString = """SELECT c.task_id, c.commit_id, c.attempt_id, c.delivery_id, c.claim_generation, c.scheduler_epoch,
 c.cancel_generation, c.result_digest, c.reviewer_id FROM claims_canonicalcommit c WHERE c.task_id = ANY(%s::uuid[])"""

DELIVERIES: LiteralString = """SELECT d.task_id, d.id, d.attempt_id, d.agent_id, d.makers, d.round, d.state, d.input_digest,
 d.result_digest, d.subject_digest, d.claim_generation, d.scheduler_epoch, d.cancel_generation
 FROM claims_delivery d WHERE d.task_id = ANY(%s::uuid[]) ORDER BY d.task_id, d.round"""

DECISIONS: LiteralString = """SELECT d.task_id, x.delivery_id, x.kind, x.reviewer_id, x.subject_digest, x.marks, x.makers
 FROM claims_delivery d JOIN claims_decision x ON x.delivery_id = d.id WHERE d.task_id = ANY(%s::uuid[]) ORDER BY d.task_id, d.round"""

STAGED: LiteralString = """SELECT a.task_id, s.attempt_id, s.result_digest, s.late, s.result, s.evidence
 FROM claims_attempt a JOIN claims_stagedresult s ON s.attempt_id = a.id WHERE a.task_id = ANY(%s::uuid[])
 AND (EXISTS (SELECT 1 FROM claims_canonicalcommit c WHERE c.task_id = a.task_id AND c.result_digest = s.result_digest)
  OR EXISTS (SELECT 1 FROM claims_delivery d WHERE d.attempt_id = a.id AND d.result_digest = s.result_digest))"""

ACCEPTED: LiteralString = """SELECT a.task_id, w.what, a.id, w.validated FROM claims_attempt a CROSS JOIN LATERAL (
 SELECT DISTINCT 'stage' AS what, s.validated FROM claims_stagedresult s WHERE s.attempt_id = a.id AND NOT s.late
 UNION ALL SELECT DISTINCT 'add-file', f.validated FROM claims_evidencefile f WHERE f.attempt_id = a.id AND NOT f.late
 UNION ALL SELECT DISTINCT 'accept-tool', x.validated FROM claims_toolacceptance x WHERE x.attempt_id = a.id
 ) w WHERE a.task_id = ANY(%s::uuid[])"""

EFFECTS: LiteralString = """SELECT e.task_id, e.id, e.slot, e.mode, e.state, e.version, e.permit_id, e.permits, e.doubts,
 e.settle_seconds, e.payload_digest, e.payload FROM claims_effect e WHERE e.task_id = ANY(%s::uuid[]) ORDER BY e.task_id, e.slot, e.prepared_at"""

PERMITS: LiteralString = """SELECT e.task_id, p.id, p.effect_id, p.attempt_id, p.number, p.mode, p.approval_id, p.claim_generation,
 p.scheduler_epoch, p.cancel_generation, p.granted_at, p.deadline
 FROM claims_effect e JOIN claims_permit p ON p.effect_id = e.id WHERE e.task_id = ANY(%s::uuid[]) ORDER BY p.effect_id, p.number"""

APPROVALS: LiteralString = """SELECT e.task_id, a.id, a.effect_id, a.state, a.payload_digest, a.claim_generation, a.scheduler_epoch,
 a.person_id, a.expires_at FROM claims_effect e JOIN claims_approval a ON a.effect_id = e.id WHERE e.task_id = ANY(%s::uuid[])"""

OBSERVATIONS: LiteralString = """SELECT e.task_id, o.effect_id, o.permit_id, o.said, o.is_applied, o.at
 FROM claims_effect e JOIN claims_observation o ON o.effect_id = e.id WHERE e.task_id = ANY(%s::uuid[]) ORDER BY o.at, o.id"""

PINS: LiteralString = """SELECT n.task_id, n.node_id, p.number, p.lineage_id, n.result_digest, c.result_digest,
 (SELECT min(h.id) FROM claims_history h WHERE h.task_id = p.id AND h.to_state = 'DONE'),
 (SELECT h.id FROM claims_taskinput i JOIN claims_history h ON h.task_id = i.task_id AND h.state_version = 1
  WHERE i.lineage_id = p.lineage_id AND i.revision = p.revision + 1)
 FROM claims_pin n JOIN claims_task p ON p.id = n.predecessor_id LEFT JOIN claims_canonicalcommit c ON c.task_id = p.id
 WHERE n.task_id = ANY(%s::uuid[]) ORDER BY n.task_id, n.node_id"""

DEPENDENCIES: LiteralString = """SELECT i.task_id, d.predecessor_lineage, d.node_id FROM claims_taskinput i
 JOIN claims_dependency d ON d.successor_lineage = i.lineage_id WHERE i.task_id = ANY(%s::uuid[]) ORDER BY i.task_id, d.node_id"""

BEFORE: LiteralString = """SELECT i.task_id, t.claim_generation, t.cancel_generation FROM claims_taskinput i
 JOIN claims_taskinput j ON j.lineage_id = i.lineage_id AND j.revision = i.revision - 1 JOIN claims_task t ON t.id = j.task_id
 WHERE i.task_id = ANY(%s::uuid[])"""

EVENTS: LiteralString = "SELECT verb, after, at FROM claims_poolevent WHERE pool_id = %s::bigint ORDER BY id"
