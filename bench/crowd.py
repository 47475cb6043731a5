"""A million tasks in the states that people see, and a delivery of fifty thousand changed lines.

One task of each kind is taken there by the real verbs; the others are copies of its rows. A copy's ids are
made of the original's and of the copy's number, so that rows which name each other still do. Guards of rows
look at what changes and are off while copies are made; a chain of hashes is not copied anew, and no page reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import connection, transaction

from claims import transitions
from claims.models import Delivery, Pool, Task
from claims.transitions import StagedResult
from claims.vocabulary import ReviewPolicy
from tests.support import deliveries
from tests.unit.reviews.world import World, as_agent, as_person, done, fill

A_BATCH = 25_000
NUMBERS_APART = 1_000
SHARES = {
    "open": 0.0723, "unmanned": 0.005, "blocked": 0.005, "claimed": 0.001, "quiet": 0.0001, "delivered": 0.0002,
    "can": 0.0003, "other": 0.0005, "changes": 0.0003, "held": 0.0003, "cancelled": 0.015, "done": 0.2, "committed": 0.7,
}  # fmt: skip
"""Which part of all tasks is a copy of which. Most of a pool is done; of a million a thousand are in work and a
thousand wait for a review."""
PARTS: dict[str, str] = {
    "claims_task": "id = %(task)s::uuid",
    "claims_taskinput": "task_id = %(task)s::uuid",
    "claims_attempt": "task_id = %(task)s::uuid",
    "claims_lease": "task_id = %(task)s::uuid",
    "claims_delivery": "task_id = %(task)s::uuid",
    "claims_decision": "delivery_id IN (SELECT id FROM claims_delivery WHERE task_id = %(task)s::uuid)",
    "claims_canonicalcommit": "task_id = %(task)s::uuid",
    "claims_dependency": "successor_lineage = %(task)s::uuid",
    "claims_history": "task_id = %(task)s::uuid",
}
COLUMNS = """SELECT column_name, data_type FROM information_schema.columns
 WHERE table_name = %s AND is_identity = 'NO' AND is_generated = 'NEVER' AND column_default IS NULL ORDER BY ordinal_position"""
FILES, LINES = 100, 500


@dataclass(frozen=True)
class Crowd:
    """What stands out of the many: a task with a history, one that is done, one that is quiet, the large delivery."""

    told: Task
    finished: Task
    quiet: Task
    waiting: Delivery
    large: Delivery


def gathered(world: World, tasks: int, say: Callable[[str], None]) -> Crowd:
    """Make all of it in the empty database."""
    originals = fill(world)
    originals["blocked"] = world.write("Invoices: send by mail")
    originals["cancelled"] = world.write("Invoices: by fax")
    done(transitions.cancel(as_person(world.mira), originals["cancelled"].pk, "nobody has a fax"))
    originals["committed"] = _committed(world)
    large = _large(world)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        for table in PARTS:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for name, share in SHARES.items():
            count = int(tasks * share)
            for first in range(1, count + 1, A_BATCH):
                _copy(originals[name], first, min(first + A_BATCH - 1, count), is_final=share > 0.01)
            say(f"  {count:,} tasks like {originals[name]} ({name})")
        for table in PARTS:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        cursor.execute("SELECT setval('claims_task_number', (SELECT max(number) FROM claims_task))")
        cursor.execute(f"VACUUM (ANALYZE) {', '.join(PARTS)}")
        cursor.execute("RESET statement_timeout")
    waiting = Delivery.objects.get(task=originals["delivered"])
    return Crowd(originals["told"], originals["done"], originals["quiet"], waiting, large)


def _copy(task: Task, first: int, last: int, *, is_final: bool) -> None:
    """Copies of all rows of a task, numbered; those of a final one lie in the past, a second apart."""
    with transaction.atomic(), connection.cursor() as cursor:
        for table, where in PARTS.items():
            cursor.execute(COLUMNS, [table])
            columns: Sequence[tuple[str, str]] = cursor.fetchall()
            names = ", ".join(name for name, _ in columns)
            values = ", ".join(_of_a_copy(table, name, kind, is_final) for name, kind in columns)
            some = " AND n %% 10 = 0" if table == "claims_history" and is_final else ""
            cursor.execute(
                f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} original,"
                f" generate_series(%(first)s::int, %(last)s::int) n WHERE {where}{some}",
                {"task": str(task.pk), "first": first, "last": last},
            )


def _of_a_copy(table: str, name: str, kind: str, is_final: bool) -> str:
    """The SQL of one column of copy `n`."""
    if kind == "uuid":
        return f"md5(original.{name}::text || n)::uuid"
    if name == "number" and table in ("claims_task", "claims_taskinput"):
        return f"original.number + n * {NUMBERS_APART}"
    if name == "title":
        return "original.title || ' ' || n"
    if table == "claims_lease" and name in ("expires_at", "window_ends_at"):
        # A live claim stays live while pages are called; one that ran out stays quiet.
        return f"CASE WHEN original.{name} > now() THEN original.{name} + interval '1 day' ELSE original.{name} END"
    if kind == "timestamp with time zone" and is_final:
        return f"original.{name} - n * interval '30 seconds'"
    return f"original.{name}"


def _committed(world: World) -> Task:
    """A task of the same pool that its agent committed, as the pool allows it here."""
    Pool.objects.filter(pk=world.billing.pk).update(allows_unreviewed=True)
    task = world.write("Invoices: round to cents", review_policy=ReviewPolicy.NONE)
    fence = world.claim(task, "agent-9")
    caller, staged = as_agent(world.agents["agent-9"]), StagedResult({"ok": True}, ())
    done(transitions.commit(caller, fence, str(task.input_digest), None, staged))
    return task


def _large(world: World) -> Delivery:
    """A delivery of a hundred files with five hundred changed lines each."""
    parts = []
    for number in range(FILES):
        path = f"app/module_{number:03}.py"
        lines = "".join(f"+    total_{line} = compute(row_{line}, {line})\n" for line in range(LINES))
        parts.append(
            f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{LINES} @@\n{lines}"
        )
    task = deliveries.new_task(world.billing, "Move the ledger to modules", reviewer="ines")
    items = deliveries.usual_items(diff="".join(parts).encode())
    return deliveries.deliver(task, world.agents["agent-7"], items=items)
