"""What /tasks/new shows: the two sides of a draft, what speaks against it, what an agent would see of it.

Promises: the number of queries does not depend on how much there is; what was typed is drawn as typed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from claims.inputs import InputInvalid, parse_input
from claims.outcomes import Refused
from claims.selectors import preparing
from claims.selectors.preparing import Surroundings
from claims.selectors.seen import SeenPool
from claims.taskfile import MOST_BYTES, Checked
from claims.vocabulary import EffectMode, EvidenceKind, ReclaimPolicy, Right
from reviews.models import TaskDraft
from reviews.shell.draw import draw, is_fragment
from reviews.shell.requests import person_of
from reviews.shell.rights import pools_of_request
from reviews.writing import drafts, gallery, scope, sources
from reviews.writing.checks import Around, able_agents, findings
from reviews.writing.drafts import Typed
from reviews.writing.fields import DECIDES, rows_in, rows_of, shown, values_of

NOT_A_PREPARER = "Only a preparer of a pool can write tasks. An administrator of the pool gives this right."
ROWS_DRAWN = {"acceptance": 200, "evidence": 60, "effects": 40}
"""Entries of a list that the form shows; those beyond stand in the YAML alone."""
LOOKUPS = {"http": "an address", "git-ref": "a git ref", "command": "a command of this server"}


@dataclass(frozen=True, slots=True)
class Told:
    """What this answer has to say above the page: one of them at most."""

    elsewhere: TaskDraft | None = None
    refused: Refused | None = None
    sentence: str = ""
    invalid: bool = False
    was_typing: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What else was asked for: files by words of their path, a field to type in next."""

    find: str = ""
    focus: str = ""
    is_fresh: bool = False
    saved_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sides:
    """A draft as read: the YAML, what it says, and the values of the form."""

    typed: Typed
    checked: Checked
    values: Mapping[str, str]
    pool: SeenPool | None
    pools: Sequence[SeenPool] = field(default=())

    @property
    def body(self) -> Mapping[str, Any]:
        """What the text says; nothing where it cannot be read."""
        return self.checked.body or {}


def preparing_pools(request: HttpRequest) -> list[SeenPool]:
    """The pools in which the person may write tasks. Raises ``PermissionDenied`` where there is none."""
    found = [pool for pool in pools_of_request(request) if pool.allows(Right.PREPARER)]
    if not found:
        raise PermissionDenied(NOT_A_PREPARER)
    return found


def sides_of(request: HttpRequest, typed: Typed) -> Sides:
    """The two sides of what was typed."""
    checked, pools = sources.read(typed.source), preparing_pools(request)
    if typed.pending or checked.body is None:
        before = sources.read(typed.base).body
        values = {**(values_of(before) if before is not None else {}), **typed.pending}
    else:
        values = values_of(checked.body)
    named = next((pool for pool in pools if pool.name == values.get("pool")), None)
    return Sides(typed, checked, values, named, pools)


def drawn(
    request: HttpRequest,
    typed: Typed,
    told: Told | None = None,
    asked: Asked | None = None,
    *,
    partial: str = "writing",
    status: int = 200,
) -> HttpResponse:
    """The page with a draft in it, or a part of it."""
    sides, told, asked = sides_of(request, typed), told or Told(), asked or Asked()
    around = preparing.around(sides.pool.id) if sides.pool else None
    workers = scope.workers_of(sides.pool.id) if sides.pool else []
    tree, unread = scope.tree_of(workers)
    at_work = preparing.at_work(sides.pool.id) if sides.pool and tree else []
    counted = scope.counted(tree, *_globs(sides), at_work) if tree else None
    names = [str(name) for name in rows_in(sides.body, "dependsOn")]
    found = findings(
        sides.checked,
        Around(
            around,
            sides.values.get("pool", ""),
            preparing.named(sides.pool.id, names) if sides.pool else {},
            counted,
            bool(workers),
            settings.FENCEPOST_LOOKUP_HOSTS,
            tuple(settings.FENCEPOST_LOOKUP_COMMANDS),
        ),
    )
    context = {
        "typed": typed,
        "told": told,
        "asked": asked,
        "values": sides.values,
        "pool": sides.pool,
        "pools": sides.pools,
        "around": around,
        "counted": counted,
        "unread": unread,
        "found": scope.found(tree, asked.find) if tree else [],
        "findings": found,
        "refusals": sum(1 for one in found if one.is_refusal),
        "is_readable": sides.checked.body is not None,
        "preview": _preview(sides, around),
        **_form(sides, around),
        **({} if is_fragment(request) else _gallery(request, sides)),
    }
    return draw(request, "task_new.html", context, partial=partial, pool=sides.pool, status=status)


def _globs(sides: Sides) -> tuple[list[str], list[str]]:
    """The globs of the scope, as the form has them."""
    both = (sides.values.get(name, "").split("\n") for name in ("files", "excluded"))
    files, excluded = ([glob.strip() for glob in globs if glob.strip()] for globs in both)
    return files, excluded


def _form(sides: Sides, around: Surroundings | None) -> dict[str, Any]:
    """What the form's lists and choices are drawn from."""
    rows = {name: rows_of(sides.values, name) for name in ROWS_DRAWN}
    evidence = [row for row in rows_in(sides.body, "evidence") if isinstance(row, dict)]
    for row in rows["acceptance"]:
        named = [item for item in evidence if row["number"] in rows_in(item, "criteria")]
        row["proved_by"] = [shown("line", item.get("name") or item.get("kind")) for item in named]
    wanted = sides.values.get("access", "").split()
    return {
        "rows": {name: found[: ROWS_DRAWN[name]] for name, found in rows.items()},
        "beyond": {name: max(0, len(found) - ROWS_DRAWN[name]) for name, found in rows.items()},
        "decides": sides.values.get(DECIDES, ""),
        "known_deciders": _deciders(around),
        "evidence_kinds": list(EvidenceKind),
        "modes": list(EffectMode),
        "lookups": LOOKUPS,
        "reclaims": list(ReclaimPolicy),
        "labels": sorted(around.labels) if around else [],
        "missing_labels": [label for label in wanted if around and label not in around.labels],
        "most_bytes": MOST_BYTES,
    }


def _deciders(around: Surroundings | None) -> list[str]:
    """The values of the choice of who decides; one that is none of them is drawn beside them."""
    if around is None:
        return []
    none = ["none"] if around.pool.allows_unreviewed else []
    people = [f"person:{one.name}" for one in around.reviewers]
    return ["", *none, *people, *(f"group:{name}" for name, _ in around.groups)]


def _preview(sides: Sides, around: Surroundings | None) -> dict[str, Any] | None:
    """What the grant of this task would hold, for whom; None while the input is none."""
    keys = ("task", "scope", "access", "acceptance", "evidence", "effects")
    body = {key: sides.body[key] for key in keys if key in sides.body}
    try:
        read = parse_input(body)
    except InputInvalid:
        return None
    agents = able_agents(body, around) if around else []
    title = sides.checked.template.task.title if sides.checked.template else sides.values.get("title", "")
    return {
        "input": read,
        "title": title,
        "items": [(one, one.item_names()) for one in read.evidence],
        "agents": [agent.name for agent in agents[:5]],
        "agents_more": max(0, len(agents) - 5),
        "text": json.dumps({"title": title, "input": body}, ensure_ascii=False, indent=2),
    }


def _gallery(request: HttpRequest, sides: Sides) -> dict[str, Any]:
    pool = sides.pool or sides.pools[0]
    return {
        "empty": gallery.EMPTY,
        "shipped": gallery.shipped(),
        "models": preparing.latest(pool.id),
        "model_pool": pool,
        "mine": [draft for draft in drafts.of(person_of(request).pk) if draft.pk != sides.typed.draft],
    }


def typed_of(draft: TaskDraft) -> Typed:
    """A draft as a page opens it; the seat is still to be taken."""
    return Typed(draft.pk, draft.source, draft.base, draft.pending, "", draft.version)


def fresh(request: HttpRequest, draft_id: UUID, text: str | None = None) -> Typed:
    """A draft that is not kept yet: the empty example, or a text."""
    wanted, pools = request.GET.get("pool", ""), preparing_pools(request)
    pool = next((one for one in pools if one.name == wanted), pools[0])
    source = text if text is not None else gallery.text_of(gallery.EMPTY, pool.name) or ""
    return Typed(draft_id, source, source)
