"""What a new task can be begun from: an empty example with notes, templates that come with Fencepost, tasks of the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from claims.models import Task
from claims.taskfile import TemplateInvalid, load_template
from reviews.taskpage.template_yaml import template_of
from reviews.writing.fields import DECIDES
from reviews.writing.sources import changed

FOLDER = Path(settings.BASE_DIR) / "agents" / "demo" / "tasks"
EMPTY = "empty"
EXAMPLE = """\
# One task. Lines that begin with # are notes for you; they go no further than this page.
title: ""
# What is wanted, in words for somebody who has never seen the code.
task: ""
pool: {pool}
scope:
  # Which files may be changed, and which must not be. ** crosses folders.
  files: []
  excluded: []
# The labels an agent needs to get the task.
access: []
# What must hold, one thing each, and how it will be proved.
acceptance:
  - text: ""
    proof: ""
# What a delivery must carry. For example, a command that a worker runs itself:
#  - kind: command
#    name: tests
#    run: python3 tests/run.py
#    criteria: [1]
evidence:
  - kind: diff
# Mails, payments, what must not happen twice: each has a slot here. An agent can have no other.
effects: []
priority: 2
"""


@dataclass(frozen=True, slots=True)
class Model:
    """A template of the gallery: ``slug`` is its address below /tasks/new/from/."""

    slug: str
    title: str
    text: str


@lru_cache(maxsize=1)
def shipped() -> Sequence[Model]:
    """The templates that come with Fencepost, as those of its demo."""
    models = []
    for path in sorted(FOLDER.glob("*.yaml")) if FOLDER.is_dir() else ():
        text = path.read_text(encoding="utf-8")
        try:
            models.append(Model(path.stem, load_template(text).task.title, text))
        except TemplateInvalid:
            continue
    return tuple(models)


def text_of(slug: str, pool: str) -> str | None:
    """The text of a template for a pool; None when there is none of this name."""
    if slug == EMPTY:
        return EXAMPLE.format(pool=pool)
    found = next((model for model in shipped() if model.slug == slug), None)
    # Its reviewer is one of the demo's people.
    return changed(found.text, {"pool": pool, DECIDES: ""}) if found else None


def text_of_task(task: Task) -> str:
    """A task as the template of another one."""
    return template_of(task, task.specification.body)
