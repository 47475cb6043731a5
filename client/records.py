"""The shape of a record: which parts it must have and of what kind each is, before anything is computed.

Promises: what ``shaped`` lets through can be read without looking again whether a part is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:fencepost:record:v1"


class Wrong(Exception):
    """The first thing that does not hold, in one sentence."""


@dataclass(frozen=True)
class Maybe:
    """A part that may be null."""

    of: Any


@dataclass(frozen=True)
class Each:
    """A list, every item of one shape."""

    of: Any


class Anything:
    """Any JSON value: what it says is bound by a digest, not by a shape."""


_NAMES = {str: "text", int: "a whole number", bool: "true or false", dict: "an object"}
_PERSON = {"id": int, "name": str}
_FENCE = {"schedulerEpoch": int, "claimGeneration": int, "cancelGeneration": int}
_STEP = {"effectId": str, "slot": str, "from": Maybe(str), "to": str}
_DECISION = {
    "kind": str,
    "reviewer": _PERSON,
    "makers": Each(_PERSON),
    "subjectDigest": str,
    "verdicts": dict,
    "marks": Each(str),
    "decidedAt": str,
}
_ROW = {
    "taskId": str,
    "stateVersion": int,
    "verb": str,
    "from": Maybe(str),
    "to": str,
    "claimGeneration": int,
    "attemptId": Maybe(str),
    "actor": Each(Anything),
    "at": str,
    "body": dict,
    "validated": Maybe(str),
    "hash": str,
}
_PREDICATE = {
    "task": {"taskId": str, "number": int, "pool": str, "title": str, "revision": int, "nodeId": str},
    "input": dict,
    "inputDigest": str,
    "pins": Each({"nodeId": str, "number": int, "resultDigest": str}),
    "attempts": Each(
        {
            "attemptId": str,
            "agent": _PERSON,
            "owner": _PERSON,
            "fence": _FENCE,
            "grantedVersion": int,
            "startedAt": str,
            "outcome": Maybe(str),
            "staged": Each({"resultDigest": str, "late": bool}),
        }
    ),
    "deliveries": Each(
        {
            "deliveryId": str,
            "round": int,
            "attemptId": str,
            "agent": _PERSON,
            "makers": Each(_PERSON),
            "state": str,
            "inputDigest": str,
            "resultDigest": str,
            "subjectDigest": str,
            "fence": _FENCE,
            "deliveredAt": str,
            "decision": Maybe(_DECISION),
        }
    ),
    "result": Anything,
    "evidence": Each({"name": str, "sha256": str, "size": int}),
    "effects": Each(
        {
            "effectId": str,
            "slot": str,
            "target": str,
            "required": bool,
            "state": str,
            "version": int,
            "payload": Anything,
            "payloadDigest": str,
            "permits": Each({"permitId": str, "number": int, "attemptId": str, "fence": _FENCE}),
        }
    ),
    "commit": {
        "commitId": str,
        "attemptId": str,
        "deliveryId": Maybe(str),
        "fence": _FENCE,
        "resultDigest": str,
        "reviewer": Maybe(_PERSON),
        "committedAt": str,
    },
    "history": Each(_ROW),
    "head": {"stateVersion": int, "hash": str},
}
_STATEMENT = {
    "_type": str,
    "subject": Each({"name": str, "digest": {"sha256": str}}),
    "predicateType": str,
    "predicate": dict,
}


def parsed(content: bytes) -> Mapping[str, Any]:
    """The statement in a file's bytes, every part where it belongs. Raises ``Wrong``."""
    try:
        statement = json.loads(content.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Wrong(f"The file is no JSON: {error}.") from error
    shaped(statement, _STATEMENT, "The statement")
    if statement["_type"] != STATEMENT_TYPE:
        raise Wrong(f"The file is a statement of type {statement['_type']}, not {STATEMENT_TYPE}.")
    if statement["predicateType"] != PREDICATE_TYPE:
        raise Wrong(f"The statement is of {statement['predicateType']}, not a record ({PREDICATE_TYPE}).")
    shaped(statement["predicate"], _PREDICATE, "The record")
    for row in statement["predicate"]["history"]:
        shaped(row["body"].get("effects", []), Each(_STEP), f"Version {row['stateVersion']}, effects")
    found: Mapping[str, Any] = statement
    return found


def shaped(value: Any, shape: Any, where: str) -> None:
    """Raise ``Wrong`` for the first part that is missing or of another kind; parts beyond the shape are let be."""
    if shape is Anything:
        return
    if isinstance(shape, Maybe):
        if value is not None:
            shaped(value, shape.of, where)
    elif isinstance(shape, Each):
        if not isinstance(value, list):
            raise Wrong(f"{where} is no list.")
        for number, item in enumerate(value, 1):
            shaped(item, shape.of, f"{where}, {number}")
    elif isinstance(shape, dict):
        if not isinstance(value, dict):
            raise Wrong(f"{where} is no object.")
        for name, part in shape.items():
            if name not in value:
                raise Wrong(f"{where} has no part {name}.")
            shaped(value[name], part, f"{where}, {name}")
    elif type(value) is not shape:
        raise Wrong(f"{where} is not {_NAMES[shape]}.")


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object names a key twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")
