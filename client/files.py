"""What a command leaves in FENCEPOST_OUT, read into a hand-in (the command contract of Fencepost)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .evidence import Evidence

CANNOT_BE_DONE = 65


class Unusable(ValueError):
    """``delivery.json`` cannot be handed in; the message says what is wrong with it."""


@dataclass
class HandIn:
    """A result with its evidence and the agent's account of it."""

    result: Any = None
    evidence: Evidence = field(default_factory=Evidence)
    summary: str = ""
    needs: str = ""
    claims: dict[int, str] = field(default_factory=dict)


def read_hand_in(folder: Path) -> HandIn:
    """The hand-in described by ``folder/delivery.json``. Files outside of the folder are refused.

    Raises ``Unusable``.
    """
    try:
        body = json.loads((folder / "delivery.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Unusable("the command left no delivery.json in FENCEPOST_OUT") from error
    except ValueError as error:
        raise Unusable(f"delivery.json is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise Unusable("delivery.json holds no object")
    try:
        claims = {int(number): str(text) for number, text in (body.get("claims") or {}).items()}
        read = HandIn(
            body.get("result"), Evidence(), str(body.get("summary", "")), str(body.get("needs", "")), claims
        )
        for item in body.get("evidence") or []:
            _add(read.evidence, folder, item)
    except (AttributeError, KeyError, TypeError, OSError, ValueError) as error:
        raise Unusable(f"delivery.json cannot be used: {error}") from error
    return read


def _add(evidence: Evidence, folder: Path, item: dict[str, Any]) -> None:
    path = (folder / str(item["path"])).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise Unusable(f"{item['path']} is no file in FENCEPOST_OUT")
    evidence.add_file(
        path,
        name=str(item.get("name") or path.name),
        kind=str(item.get("kind") or "file"),
        criteria=[int(number) for number in item.get("criteria") or []],
        meta=item.get("meta") or {},
    )
