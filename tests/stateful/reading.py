"""What the tables say of a pool, and what the model says of it, as one shape that can be compared."""

from __future__ import annotations

from typing import Any

from django.db import connection

from tests.stateful.abstract import Abstract

Shape = dict[str, Any]

_SNAPSHOT = """SELECT json_build_object(
 'pool', (SELECT json_build_array(p.scheduler_epoch, p.gate) FROM claims_pool p WHERE p.id = %(pool)s),
 'rows', (SELECT json_agg(json_build_object('id', t.id, 'digest', t.input_digest, 'is', json_build_array(t.state, t.state_version,
  t.claim_generation, t.cancel_generation, t.attempts_used, t.rounds, t.is_stale, t.attempt_id, t.delivery_id, t.runner_id,
  t.preferred_runner_id, t.reclaim_policy = 'AUTO'), 'expires', l.expires_at,
  'lease', CASE WHEN l.task_id IS NOT NULL THEN json_build_array(l.expires_at <= clock_timestamp(), l.nudged_at IS NOT NULL, l.extended_at IS NOT NULL) END,
  'pins', (SELECT json_agg(i.predecessor_id) FROM claims_pin i WHERE i.task_id = t.id)) ORDER BY t.number)
  FROM claims_task t LEFT JOIN claims_lease l ON l.task_id = t.id WHERE t.pool_id = %(pool)s),
 'attempts', (SELECT json_object_agg(a.id, json_build_array(a.task_id, a.agent_id, a.scheduler_epoch, a.claim_generation, a.cancel_generation, a.outcome))
  FROM claims_attempt a JOIN claims_task t ON t.id = a.task_id WHERE t.pool_id = %(pool)s),
 'deliveries', (SELECT json_object_agg(d.attempt_id, json_build_array(d.id, d.state)) FROM claims_delivery d WHERE d.pool_id = %(pool)s),
 'effects', (SELECT json_object_agg(e.id, json_build_array(e.task_id, e.slot, e.state, e.version, e.permits, e.doubts, e.has_happened,
  e.permit_id, (SELECT json_agg(x.state ORDER BY x.at, x.id) FROM claims_approval x WHERE x.effect_id = e.id),
  (SELECT count(*) FROM claims_observation o WHERE o.effect_id = e.id AND o.via <> 'OPERATOR'))) FROM claims_effect e WHERE e.pool_id = %(pool)s),
 'permits', (SELECT json_agg(json_build_array(q.id, q.effect_id, q.agent_id, q.key)) FROM claims_permit q JOIN claims_task t ON t.id = q.task_id
  WHERE t.pool_id = %(pool)s))"""


def snapshot(pool_id: int) -> Shape:
    """Everything of a pool in one statement, so that it is of one moment."""
    with connection.cursor() as cursor:
        cursor.execute(_SNAPSHOT, {"pool": pool_id})
        found: Shape = cursor.fetchone()[0]
    return {name: found[name] if found[name] is not None else {} for name in found}


class Names:
    """What the model's positions are called in the database."""

    def __init__(self, agents: list[int], epochs: list[int]) -> None:
        self.agents, self.epochs = agents, epochs
        self.rows: list[str] = []
        self.attempts: list[str] = []
        self.deliveries: list[str] = []
        self.effects: list[str] = []
        self.permits: list[str] = []
        self.digests: dict[int, str] = {}
        self.ends: dict[int, str] = {}

    def learn(self, model: Abstract, seen: Shape) -> None:
        """Find out the names of what the last step made. What is not there has none."""
        if model.epoch == len(self.epochs):
            self.epochs.append(seen["pool"][0])
        self.rows = [row["id"] for row in seen["rows"]]
        for number, row in enumerate(seen["rows"]):
            self.digests[number] = row["digest"]
        granted = {(one[0], one[3]): name for name, one in dict(seen["attempts"]).items()}
        for attempt in model.attempts[len(self.attempts) :]:
            self.attempts.append(granted[self.rows[attempt.row], attempt.generation])
        for delivery in model.deliveries[len(self.deliveries) :]:
            self.deliveries.append(seen["deliveries"][self.attempts[delivery.attempt]][0])
        prepared = {(one[0], one[1]): name for name, one in dict(seen["effects"]).items()}
        for effect in model.effects[len(self.effects) :]:
            self.effects.append(prepared[self.rows[effect.row], effect.slot])
        permitted = {tuple(one[1:]): one[0] for one in list(seen["permits"])}
        for permit in model.permits[len(self.permits) :]:
            self.permits.append(
                permitted[self.effects[permit.effect], self.agents[permit.runner], permit.key]
            )
        for number, row in enumerate(model.rows):
            if row.lease is not None:
                self.ends[row.lease.token] = seen["rows"][number]["expires"]


def of_tables(seen: Shape) -> Shape:
    """The tables, without what the model does not know."""
    return {
        "pool": seen["pool"],
        "rows": [[row["is"], row["lease"], sorted(row["pins"] or [])] for row in seen["rows"]],
        "attempts": dict(seen["attempts"]),
        "deliveries": {name: one[1] for name, one in dict(seen["deliveries"]).items()},
        "effects": dict(seen["effects"]),
    }


def of_model(model: Abstract, names: Names) -> Shape:
    """The model, under the names of the database."""
    return {
        "pool": [names.epochs[model.epoch], model.gate],
        "rows": [
            [
                [
                    row.state,
                    row.version,
                    row.generation,
                    row.cancel,
                    row.attempts_used,
                    row.rounds,
                    row.is_stale,
                    _named(names.attempts, row.attempt),
                    _named(names.deliveries, row.delivery),
                    _named(names.agents, None if row.attempt is None else model.attempts[row.attempt].runner),
                    _named(names.agents, row.preferred),
                    row.is_auto,
                ],
                [row.lease.is_expired, row.lease.is_nudged, row.lease.is_extended] if row.lease else None,
                sorted(names.rows[one] for one in row.pins.values()),
            ]
            for row in model.rows
        ],
        "attempts": {
            names.attempts[number]: [
                names.rows[one.row],
                names.agents[one.runner],
                names.epochs[one.epoch],
                one.generation,
                one.cancel,
                one.outcome,
            ]
            for number, one in enumerate(model.attempts)
        },
        "deliveries": {names.attempts[one.attempt]: one.state for one in model.deliveries},
        "effects": {
            names.effects[number]: [
                names.rows[one.row],
                one.slot,
                one.state,
                one.version,
                one.permits,
                one.doubts,
                one.has_happened,
                _named(names.permits, one.permit),
                [approval.state for approval in one.approvals] or None,
                len(one.said),
            ]
            for number, one in enumerate(model.effects)
        },
    }


def _named(names: list[Any], number: int | None) -> Any:
    return None if number is None else names[number]
