"""What speaks against a task that is being written, each with its line and column. Pure.

A refusal keeps it from being published; what is no refusal is said, and left to whoever writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from claims.evidence.globs import matches
from claims.inputs import TASK_NUMBER
from claims.selectors.preparing import Before, Surroundings
from claims.taskfile import Checked
from claims.transitions import checking
from claims.vocabulary import EffectMode, State
from reviews.writing.fields import rows_in, shown
from reviews.writing.scope import Counted

_KEYS = {"ttlSeconds": "ttl"}
"""What the contract calls a key that a template calls otherwise."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found. Line and column count from 1."""

    line: int
    column: int
    text: str
    is_refusal: bool = False


@dataclass(frozen=True, slots=True)
class Around:
    """What a task is checked against. ``pool`` is None where the person cannot write in the pool that is named."""

    pool: Surroundings | None
    pool_name: str = ""
    before: Mapping[str, Before] | None = None
    counted: Counted | None = None
    has_workers: bool = False
    lookup_hosts: Sequence[str] = ()
    lookup_commands: Sequence[str] = ()


def findings(checked: Checked, around: Around) -> list[Finding]:
    """Everything that was found, from the top of the text to its end."""
    found = [Finding(flaw.line, flaw.column, flaw.message, True) for flaw in checked.flaws]
    if checked.body is not None:
        parts = (_pool, _policies, _reviewer, _waits, _proofs, _runs, _access, _makers, _scope, _effects)
        for part in parts:
            for pointer, text, is_refusal in part(checked, checked.body, around):
                found.append(Finding(*checked.place(pointer), text, is_refusal))
    return sorted(found, key=lambda one: (one.line, one.column, not one.is_refusal))


Said = Iterator[tuple[str, str, bool]]
Body = Mapping[str, Any]


def _pool(checked: Checked, body: Body, around: Around) -> Said:
    if around.pool is None and around.pool_name:
        yield "/pool", f"there is no pool {around.pool_name} in which you can write tasks", True
    elif not body.get("pool"):
        yield "", "it names no pool", True


def _policies(checked: Checked, body: Body, around: Around) -> Said:
    if around.pool is None or checked.template is None:
        return
    refused = checking.flaws(around.pool.pool, checked.template.task, "")
    if refused is not None:
        said = refused.sentence.lstrip("/")
        key = said.partition(" ")[0].rstrip(":")
        known = _KEYS.get(key, key)
        yield f"/{known}", said.replace(key, known, 1).rstrip("."), True


def _reviewer(checked: Checked, body: Body, around: Around) -> Said:
    if around.pool is None:
        return
    name, group = shown("line", body.get("reviewer")), shown("line", body.get("reviewerGroup"))
    if name and name not in {person.name for person in around.pool.reviewers}:
        yield "/reviewer", f"{name} is not a reviewer in the pool {around.pool_name}", True
    if group and group not in {known for known, _ in around.pool.groups}:
        yield "/reviewerGroup", f"there is no reviewer group {group} in the pool {around.pool_name}", True


def _waits(checked: Checked, body: Body, around: Around) -> Said:
    before, own = around.before or {}, body.get("nodeId")
    seen: dict[int, str] = {}
    for at, name in enumerate(rows_in(body, "dependsOn")):
        pointer, known = f"/dependsOn/{at}", before.get(str(name))
        if own and name == own:
            yield pointer, f"the dependencies go round in a circle: {name} waits for itself", True
        elif known is None:
            hint = (
                "" if TASK_NUMBER.fullmatch(str(name)) else "; a node of the same import is known only there"
            )
            yield pointer, f"there is no task {name} in this pool{hint}", True
        elif known.number in seen:
            yield pointer, f"{name} and {seen[known.number]} are the same task", True
        elif known.state is State.CANCELLED:
            yield (
                pointer,
                f"T-{known.number} is cancelled: this task stays blocked until that one is revised",
                False,
            )
        if known is not None:
            seen.setdefault(known.number, str(name))


def _proofs(checked: Checked, body: Body, around: Around) -> Said:
    evidence = [row for row in rows_in(body, "evidence") if isinstance(row, dict)]
    proved = {number for row in evidence for number in rows_in(row, "criteria")}
    for number, row in enumerate(rows_in(body, "acceptance"), 1):
        if not isinstance(row, dict) or not row.get("text") or number in proved:
            continue
        pointer, proof = f"/acceptance/{number - 1}", shown("line", row.get("proof")).strip()
        if not proof:
            yield (
                pointer,
                f"nobody can prove criterion {number}: say how, or ask for evidence that is for it",
                False,
            )
        elif not evidence:
            yield f"{pointer}/proof", f"nobody can prove criterion {number}: no evidence is asked for", False
    if not rows_in(body, "acceptance") and body.get("task"):
        yield "", "there is no criterion: what is accepted is the result as a whole", False


def _runs(checked: Checked, body: Body, around: Around) -> Said:
    if around.pool is None or around.has_workers:
        return
    for at, row in enumerate(rows_in(body, "evidence")):
        if isinstance(row, dict) and row.get("run"):
            said = (
                "no worker of this server serves the pool: what this command gave will be the agent’s claim"
            )
            yield f"/evidence/{at}/run", said, False


def _access(checked: Checked, body: Body, around: Around) -> Said:
    wanted = [label for label in rows_in(body, "access") if isinstance(label, str)]
    if around.pool is None:
        return
    lone = [label for label in wanted if label not in around.pool.labels]
    for at, label in enumerate(rows_in(body, "access")):
        if label in lone:
            yield f"/access/{at}", f"no agent of this pool has the label {label}", False
    if wanted and not lone and not any(agent.labels >= set(wanted) for agent in around.pool.agents):
        yield "/access", "no agent of this pool has all of these labels", False
    if not around.pool.agents:
        yield "/pool", f"no agent works in the pool {around.pool_name}: nobody can take this task", False


def _makers(checked: Checked, body: Body, around: Around) -> Said:
    """Maker is not checker (claim.v1 section 4): who owns every agent that can take it can never decide."""
    if around.pool is None or body.get("reviewPolicy") == "NONE":
        return
    able = able_agents(body, around.pool)
    owners = {agent.owner_id for agent in able}
    named = next((one for one in around.pool.reviewers if one.name == body.get("reviewer")), None)
    if named and owners == {named.id}:
        yield (
            "/reviewer",
            f"{named.full_name} owns every agent that can take it, and may then not decide",
            False,
        )
    elif named and named.id in owners:
        mine = ", ".join(agent.name for agent in able if agent.owner_id == named.id)
        yield "/reviewer", f"{named.full_name} owns {mine}, and may not decide on what it delivers", False


def able_agents(body: Body, pool: Surroundings) -> list[Any]:
    """The agents that have every label the task needs."""
    wanted = {label for label in rows_in(body, "access") if isinstance(label, str)}
    return [agent for agent in pool.agents if agent.labels >= wanted]


def _scope(checked: Checked, body: Body, around: Around) -> Said:
    scope = body.get("scope")
    if not isinstance(scope, dict):
        return
    files = [glob for glob in rows_in(scope, "files") if isinstance(glob, str)]
    excluded = [glob for glob in rows_in(scope, "excluded") if isinstance(glob, str)]
    for at, glob in enumerate(rows_in(scope, "files")):
        over = next((one for one in excluded if _covers(one, glob)), None) if isinstance(glob, str) else None
        if over is not None:
            yield f"/scope/files/{at}", f"{glob} is excluded by {over}: no file of it may be changed", False
        elif around.counted and glob in around.counted.swallowed:
            yield f"/scope/files/{at}", f"every file of {glob} is excluded", False
        elif around.counted and glob in around.counted.unmatched and not around.counted.tree.is_cut:
            yield f"/scope/files/{at}", f"{glob} means no file of {around.counted.tree.repository} yet", False
    if files and around.counted and around.counted.count == 0 and not around.counted.unmatched:
        yield "/scope/files", "no file is left in the scope", False


def _covers(excluded: str, glob: str) -> bool:
    """Whether an excluded glob means all that a glob of the scope can mean; said only where that is sure.

    A name that no file has stands for every file below the part of the glob that has no wildcard.
    """
    parts = glob.removeprefix("./").split("/")
    plain = [part for part in parts if not set(part) & set("*?")]
    if excluded == glob or (len(plain) == len(parts) and matches(excluded, glob)):
        return True
    folder = parts[: next((at for at, part in enumerate(parts) if set(part) & set("*?")), 0)]
    return bool(folder) and all(
        matches(excluded, "/".join([*folder, *below])) for below in (["\0"], ["\0", "\0"])
    )


def _effects(checked: Checked, body: Body, around: Around) -> Said:
    for at, row in enumerate(rows_in(body, "effects")):
        if not isinstance(row, dict):
            continue
        pointer, lookup = f"/effects/{at}", row.get("lookup")
        if row.get("mode") == EffectMode.QUERYABLE and not lookup:
            yield (
                f"{pointer}/mode",
                "without a look-up this is NON_REPLAYABLE: a person approves each permit",
                False,
            )
        if not isinstance(lookup, dict):
            continue
        name, host = lookup.get("name"), _host(shown("line", lookup.get("url")))
        if lookup.get("kind") == "command" and name and name not in around.lookup_commands:
            yield f"{pointer}/lookup", f"this server has no look-up command {name}", False
        if (
            lookup.get("kind") == "http"
            and host
            and not {host, host.rpartition(":")[0]} & set(around.lookup_hosts)
        ):
            yield (
                f"{pointer}/lookup",
                f"this server may not ask {host}; its operator says which hosts it may",
                False,
            )


def _host(url: str) -> str:
    """The host of an address, with its port; nothing where there is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return ""
    return f"{parts.hostname}:{port}" if parts.hostname else ""
