"""A lineage is found by an index, however many tasks there are."""

from __future__ import annotations

from typing import Any, LiteralString
from uuid import uuid4

import pytest
from django.db import connection

from claims.selectors import graph, waiting

pytestmark = pytest.mark.django_db


def plan(statement: LiteralString, values: dict[str, Any]) -> str:
    """The plan of a statement where a scan of a whole table is the last choice."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statement}", values)
        return "\n".join(row[0] for row in cursor.fetchall())


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        (graph._NEIGHBOURS, {"task": uuid4(), "lineage": uuid4(), "most": 10}),
        (waiting._NODES, {"drawn": [uuid4()], "pool": 1}),
    ],
    ids=["around", "graph"],
)
def test_the_graph_of_a_task_scans_no_table_of_tasks(
    statement: LiteralString, values: dict[str, Any]
) -> None:
    found = plan(statement, values)
    assert "Seq Scan on claims_task" not in found
    assert "t.lineage_id" not in statement  # a column of the task, which has no index of it
