"""Edges between lineages, and the results a task's input is pinned to (claim.v1 section 6)."""

from __future__ import annotations

from django.db import models

from claims.models.columns import loose
from claims.models.triggers import append_only


class Dependency(models.Model):
    """The successor opens when the newest revision of the predecessor is DONE. Fixed at creation.

    ``node_id`` is the name under which the successor's input digest pins the predecessor's result.
    """

    pool = loose("claims.Pool")
    successor_lineage = models.UUIDField()
    predecessor_lineage = models.UUIDField(db_index=True)
    node_id = models.CharField(max_length=120)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["successor_lineage", "predecessor_lineage"], name="dependency_once"
            ),
            models.UniqueConstraint(fields=["successor_lineage", "node_id"], name="dependency_one_a_name"),
            models.CheckConstraint(
                condition=~models.Q(successor_lineage=models.F("predecessor_lineage")),
                name="dependency_on_another",
            ),
        ]
        triggers = append_only("an edge of a graph")

    def __str__(self) -> str:
        return f"{self.successor_lineage} after {self.node_id}"


class Pin(models.Model):
    """Which result of which predecessor a task was opened with; part of its input digest."""

    task = loose("claims.Task", db_index=True)
    node_id = models.CharField(max_length=120)
    predecessor = loose("claims.Task")
    result_digest = models.CharField(max_length=71)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "node_id"], name="pin_once")]
        triggers = append_only("a pin")

    def __str__(self) -> str:
        return f"{self.node_id} of {self.task_id}"
