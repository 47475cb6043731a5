"""Which pools a person sees, and with which rights. Every page starts here.

Promises: a pool in which the person has no right is in no answer, so nothing of it reaches a page
(claim.v1 section 7, invariant 14).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from claims.models import Membership, Pool
from claims.rights import expand
from claims.vocabulary import Gate, Right


@dataclass(frozen=True, slots=True)
class SeenPool:
    """A pool as one person sees it."""

    id: int
    name: str
    title: str
    scheduler_epoch: int
    gate: Gate
    rights: frozenset[Right]

    def allows(self, *rights: Right) -> bool:
        """Whether the person has one of these rights, itself or by one that carries it."""
        return any(right in self.rights for right in rights)


def pools_of(person_id: int) -> tuple[SeenPool, ...]:
    """The pools of a person in the order of their names. One query."""
    rows = (
        Membership.objects.filter(person_id=person_id).select_related("pool").order_by("pool__name", "right")
    )
    found: dict[int, tuple[Pool, set[Right]]] = {}
    for row in rows:
        found.setdefault(row.pool_id, (row.pool, set()))[1].add(Right(row.right))
    return tuple(_seen(pool, rights) for pool, rights in found.values())


def _seen(pool: Pool, rights: Iterable[Right]) -> SeenPool:
    return SeenPool(pool.pk, pool.name, pool.title, pool.scheduler_epoch, Gate(pool.gate), expand(rights))


def ids_with(pools: Iterable[SeenPool], *rights: Right) -> list[int]:
    """The ids of the pools in which the person has one of these rights."""
    return [pool.id for pool in pools if pool.allows(*rights)]
