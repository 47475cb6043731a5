"""A task as the YAML template that would write it again (claim.v1 section 9). Pure."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

from claims.models import Task
from claims.vocabulary import ReviewPolicy

_INPUT = ("scope", "access", "acceptance", "evidence", "effects")


def template_of(task: Task, body: dict[str, Any]) -> str:
    """The text; reading it with ``claims.taskfile.load_template`` gives the same input."""
    document: dict[str, Any] = {
        "title": task.title,
        "pool": task.pool.name,
        "task": _text(str(body.get("task", ""))),
    }
    document |= {name: body[name] for name in _INPUT if name in body}
    if task.reviewer:
        document["reviewer"] = task.reviewer.get_username()
    if task.reviewer_group:
        document["reviewerGroup"] = task.reviewer_group.name
    if task.review_policy == ReviewPolicy.NONE:
        document["reviewPolicy"] = str(task.review_policy)
    document |= {
        "priority": task.priority,
        "maxAttempts": task.max_attempts,
        "reclaim": str(task.reclaim_policy),
        "ttl": task.ttl_seconds,
    }
    return _dumped(document)


def input_of(task: Task, body: dict[str, Any]) -> str:
    """What a revision is written from: the title and the input, and nothing of the scheduling."""
    return source_of(task.title, body)


def source_of(title: str, body: Mapping[str, Any]) -> str:
    """The same of any title and input."""
    document: dict[str, Any] = {"title": title, "task": _text(str(body.get("task", "")))}
    return _dumped(document | {name: body[name] for name in _INPUT if name in body})


def _dumped(document: dict[str, Any]) -> str:
    out = io.StringIO()
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 100
    yaml.dump(document, out)
    return out.getvalue()


def _text(text: str) -> str:
    return LiteralScalarString(text) if "\n" in text else text
