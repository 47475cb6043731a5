"""The evidence a worker makes itself: the diff, the commands a task asks for, and their reports."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from agents import collecting, commands, workspaces
from agents.collecting import CannotCollect, Collection, HandedIn
from agents.commands import Limits
from agents.workspaces import Workspace
from claims.inputs import Requirement
from claims.vocabulary import EvidenceKind

RAN_BY_WORKER = {"ranBy": "worker"}


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and how commands run here, and when they must stop. ``deadline`` is monotonic, for all together."""

    workspace: Workspace
    environment: Mapping[str, str]
    limits: Limits
    deadline: float
    is_stopped: Callable[[], bool]


def gather(collection: Collection, bench: Bench, handed_in: HandedIn, head_commit: str) -> None:
    """All evidence of a run, the worker's own first: an agent's item never takes its name.

    Raises ``CannotCollect`` and ``GitFailed``.
    """
    requirements = collection.specification.evidence
    reports = [each for each in requirements if each.kind == EvidenceKind.TEST_REPORT and each.path]
    is_run_here = any(each.run for each in requirements)
    if is_run_here:
        _forget(bench.workspace, reports)
    _diff(collection, bench.workspace, head_commit)
    for place, requirement in enumerate(requirements, start=1):
        if requirement.run and not bench.is_stopped():
            _command(collection, bench, requirement, f"command-{place}")
    for requirement in reports:
        _report(collection, bench.workspace, requirement, RAN_BY_WORKER if is_run_here else {})
    collection.add_handed_in(bench.workspace.out, handed_in.evidence)
    _log(collection, bench.workspace)


def _diff(collection: Collection, workspace: Workspace, head_commit: str) -> None:
    if workspace.source is None:
        return
    wanted = [
        each
        for each in collection.specification.evidence
        if each.kind in (EvidenceKind.DIFF, EvidenceKind.BRANCH)
    ]
    meta = {**RAN_BY_WORKER, "base": workspace.base_commit, "commit": head_commit, "branch": workspace.branch}
    content = workspaces.diff(workspace, head_commit)
    named = next((each for each in wanted if each.kind == EvidenceKind.DIFF), None)
    _add(collection, content, (named and named.name) or "diff", EvidenceKind.DIFF, "text/x-diff", named, meta)
    for each in wanted:
        if each.kind == EvidenceKind.BRANCH:
            text = f"{workspace.branch}\n{head_commit}\n".encode()
            _add(collection, text, each.name or "branch", EvidenceKind.BRANCH, "text/plain", each, meta)


def _command(collection: Collection, bench: Bench, requirement: Requirement, name: str) -> None:
    """Run what the task asks for, on the files as they were committed."""
    name = (
        (requirement.name or name)
        if requirement.kind == EvidenceKind.COMMAND
        else f"{requirement.name or name}.run"
    )
    output = bench.workspace.root / "cmd" / f"{name}.log"
    seconds = max(1.0, min(bench.limits.time_seconds, bench.deadline - time.monotonic()))
    limits = replace(bench.limits, time_seconds=seconds)
    argv = ["/bin/sh", "-c", requirement.run or ""]
    ended = commands.run(argv, bench.workspace.work, bench.environment, limits, output, bench.is_stopped)
    meta = {
        **RAN_BY_WORKER,
        "command": requirement.run,
        "cwd": ".",
        "exitCode": ended.exit_code,
        "durationMs": ended.duration_ms,
        "startedAt": _utc(ended.started_at),
        **({"isCut": True} if ended.output_is_cut else {}),
        **({"ended": ended.cut.value} if ended.cut else {}),
    }
    _add(collection, output.read_bytes(), name, EvidenceKind.COMMAND, "text/plain", requirement, meta)


def _report(
    collection: Collection, workspace: Workspace, requirement: Requirement, meta: Mapping[str, Any]
) -> None:
    """Read the report where the task says it is; one that is not there is missing evidence, told by the verb."""
    path = requirement.path or ""
    try:
        with collecting.open_inside(workspace.work, path) as stream:
            content = stream.read(collecting.FILE_BYTES + 1)
    except (OSError, CannotCollect):
        return
    name = requirement.name or collecting.name_of(Path(path).stem)
    _add(
        collection,
        content,
        name,
        EvidenceKind.TEST_REPORT,
        collecting.media_type_of(path),
        requirement,
        {**meta, "path": path},
    )


def _forget(workspace: Workspace, reports: list[Requirement]) -> None:
    """A report from before the commands ran here would pass for one of theirs."""
    for requirement in reports:
        try:
            collecting.open_inside(workspace.work, requirement.path or "").close()
            (workspace.work / (requirement.path or "")).unlink()
        except (OSError, CannotCollect):
            continue


def _log(collection: Collection, workspace: Workspace) -> None:
    if workspace.log.exists() and workspace.log.stat().st_size:
        with workspace.log.open("rb") as stream:
            collection.add_stream(stream, "agent-log", EvidenceKind.LOG, "text/plain", (), {})


def _add(
    collection: Collection,
    content: bytes,
    name: str,
    kind: EvidenceKind,
    media_type: str,
    requirement: Requirement | None,
    meta: Mapping[str, Any],
) -> None:
    criteria = collection.criteria_for(kind, name, list(requirement.criteria) if requirement else [])
    collection.add_stream(io.BytesIO(content), name, kind, media_type, criteria, meta)


def _utc(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
