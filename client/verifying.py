"""Verifying the record of a task offline: everything that can be computed again is, from the file alone.

Promises: what passes is consistent in itself, so that no part of it can be changed without changing
the head of its history. It does not say who made the file: compare the head with one from the server.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import rfc8785

from .records import Wrong

Part = Mapping[str, Any]

GENESIS = bytes(32)
SETTLED = frozenset({"COMMITTED", "ABANDONED", "WRITTEN_OFF"})
DECIDING = {"ACCEPTED": "accept", "CHANGES_REQUESTED": "request-changes", "REJECTED": "reject"}
CHUNK_BYTES = 256 * 1024
_CHAINED = (
    "taskId", "stateVersion", "verb", "from", "to", "claimGeneration", "attemptId", "actor", "source", "requestId", "at", "body",
    "validated",
)  # fmt: skip


def verify(statement: Part, evidence: Path | None = None) -> None:
    """Raise ``Wrong`` for the first thing in a record that does not hold.

    ``statement`` is one that ``records.parsed`` let through; ``evidence`` is a folder in which every
    piece of evidence must be, under any name.
    """
    record = statement["predicate"]
    _input(record)
    _result(record, statement["subject"])
    _chain(record)
    _beginning(record)
    _attempts(record)
    for number, delivery in enumerate(record["deliveries"], 1):
        _delivery(record, delivery, number)
        _decision(record, delivery)
    _all_told(record)
    _commit(record)
    _effects(record)
    if evidence is not None:
        _files(record["evidence"], evidence)


def canonical(value: object) -> bytes:
    """The RFC 8785 bytes of a JSON value. Raises ``Wrong`` where it has none."""
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError) as error:
        raise Wrong(f"A part of the record has no canonical form: {error}.") from error


def digest(value: object) -> str:
    """``sha256:`` and the hexadecimal digits of the SHA-256 of the canonical JSON of a value."""
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()


def effect_id(task_id: str, node_id: str, slot: str) -> str:
    """The id of an effect: SHA-256 of four parts, each preceded by its length as four big-endian bytes."""
    parts = [part.encode() for part in ("fencepost.effect.v1", task_id, node_id, slot)]
    return hashlib.sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).hexdigest()


def fence_text(fence: Part) -> str:
    """A fence as history keeps what it was compared with."""
    return f"{fence['schedulerEpoch']}.{fence['claimGeneration']}.{fence['cancelGeneration']}"


def _same(found: object, expected: object, sentence: str) -> None:
    if found != expected:
        raise Wrong(f"{sentence}: {_shown(found)}, not {_shown(expected)}.")


def _shown(value: object) -> str:
    return str(value) if isinstance(value, str | int) else json.dumps(value)


def _input(record: Part) -> None:
    pinned = {pin["nodeId"]: pin["resultDigest"] for pin in record["pins"]}
    computed = digest({"input": record["input"], "predecessors": pinned})
    _same(record["inputDigest"], computed, "The input digest is not that of the input and its pins")


def _result(record: Part, subjects: Sequence[Part]) -> None:
    computed = digest({"evidence": record["evidence"], "result": record["result"]})
    _same(
        record["commit"]["resultDigest"],
        computed,
        "The result digest is not that of the result and its evidence",
    )
    expected = [computed.removeprefix("sha256:"), *(item["sha256"] for item in record["evidence"])]
    if [subject["digest"]["sha256"] for subject in subjects] != expected:
        raise Wrong("The subjects of the statement are not the result and the evidence of the record.")


def _chain(record: Part) -> None:
    """Each row follows from the one before it; the last one is the head."""
    previous, state = GENESIS, None
    for number, row in enumerate(record["history"], 1):
        where = f"Version {row['stateVersion']} ({row['verb']})"
        _same(row["stateVersion"], number, f"Version {number} of the history is missing, the next row")
        missing = [name for name in _CHAINED if name not in row]
        if missing:
            raise Wrong(f"{where} has no part {missing[0]}.")
        previous = hashlib.sha256(previous + canonical({name: row[name] for name in _CHAINED})).digest()
        if row["hash"] != previous.hex():
            raise Wrong(f"{where} is not what was written, or does not follow from the row before it.")
        _same(row["taskId"], record["task"]["taskId"], f"{where} is of another task")
        _same(row["from"], state, f"{where} does not begin where the row before it ended")
        state = row["to"]
    head = record["head"]
    _same(head["stateVersion"], len(record["history"]), "The head names another version than the last row")
    _same(head["hash"], previous.hex(), "The head is not the hash of the last row")


def _beginning(record: Part) -> None:
    """The history is that of this task and this input: rows that open it name the input's digest."""
    told = [row["body"]["inputDigest"] for row in record["history"] if row["body"].get("inputDigest")]
    if not told:
        raise Wrong("No row of the history names the input.")
    for found in told:
        _same(found, record["inputDigest"], "The history names another input")
    _same(
        record["history"][0]["body"].get("number"),
        record["task"]["number"],
        "The history is of another number",
    )


def _attempts(record: Part) -> None:
    """Each attempt was granted by a row of the history, under the epoch and generation that it names."""
    generations = [attempt["fence"]["claimGeneration"] for attempt in record["attempts"]]
    if sorted(set(generations)) != generations:
        raise Wrong("Two attempts have one claim generation, or they are out of order.")
    granted = {row["attemptId"]: row for row in record["history"] if "ttlSeconds" in row["body"]}
    for attempt in record["attempts"]:
        name = f"The attempt of generation {attempt['fence']['claimGeneration']}"
        row = granted.get(attempt["attemptId"])
        if row is None or row["to"] != "CLAIMED":
            raise Wrong(f"{name} was granted by no row of the history.")
        _same(attempt["grantedVersion"], row["stateVersion"], f"{name} names another row as its grant")
        _same(attempt["startedAt"], row["at"], f"{name} began at another time than its grant")
        numbers = (row["body"].get("schedulerEpoch"), row["claimGeneration"])
        fence = attempt["fence"]
        _same(
            numbers, (fence["schedulerEpoch"], fence["claimGeneration"]), f"{name} was granted another fence"
        )


def _attempt_of(record: Part, part: Part, name: str) -> Part:
    """The attempt that a delivery or the commit names, whose fence is the one that it was granted."""
    attempts: list[Part] = record["attempts"]
    found = next((one for one in attempts if one["attemptId"] == part["attemptId"]), None)
    if found is None:
        raise Wrong(f"{name} names an attempt that the record does not have.")
    _same(fence_text(part["fence"]), fence_text(found["fence"]), f"{name} is not under its attempt's fence")
    return found


def _rows_of(record: Part, *verbs: str, **told: object) -> list[Part]:
    rows = [row for row in record["history"] if row["verb"] in verbs]
    return [row for row in rows if all(row["body"].get(name) == value for name, value in told.items())]


def _only(rows: Sequence[Part], what: str) -> Part:
    if len(rows) != 1:
        raise Wrong(f"{what} by {len(rows) or 'no'} rows of the history.")
    return rows[0]


def _told(row: Part, part: Part, name: str) -> None:
    """A row that hands in or commits has the attempt, the fence and the result digest of the part it made."""
    _same(row["attemptId"], part["attemptId"], f"{name} names another attempt than its row")
    _same(row["validated"], fence_text(part["fence"]), f"{name} was compared with another fence")
    _same(row["body"].get("resultDigest"), part["resultDigest"], f"{name} has another result than its row")


def _delivery(record: Part, delivery: Part, number: int) -> None:
    name = f"Round {number}"
    _same(delivery["round"], number, f"{name} is missing, the next delivery is round")
    row = _only(_rows_of(record, "deliver", delivery=delivery["deliveryId"]), f"{name} was delivered")
    attempt = _attempt_of(record, delivery, name)
    _told(row, delivery, name)
    _same(row["body"].get("round"), number, f"{name} was told as another round")
    _same(row["actor"][:2], ["AGENT", delivery["agent"]["id"]], f"{name} was delivered by another agent")
    _same(delivery["agent"]["id"], attempt["agent"]["id"], f"{name} is of another agent than its attempt")
    _same(delivery["inputDigest"], record["inputDigest"], f"{name} was made for another input")
    _same(delivery["deliveredAt"], row["at"], f"{name} was delivered at another time")
    subject = {
        "deliveryId": delivery["deliveryId"],
        "round": number,
        "inputDigest": delivery["inputDigest"],
        "resultDigest": delivery["resultDigest"],
        "attemptId": delivery["attemptId"],
        "claimGeneration": delivery["fence"]["claimGeneration"],
        "schedulerEpoch": delivery["fence"]["schedulerEpoch"],
    }
    _same(
        delivery["subjectDigest"],
        digest(subject),
        f"{name}: the subject digest is not that of what was delivered",
    )


def _decision(record: Part, delivery: Part) -> None:
    """A person who is no maker, on the very subject; the history names the same person."""
    name, decision = f"Round {delivery['round']}", delivery["decision"]
    rows = _rows_of(record, *DECIDING.values(), delivery=delivery["deliveryId"])
    if decision is None:
        if rows or delivery["state"] in DECIDING:
            raise Wrong(f"{name} was decided, and the record has no decision on it.")
        return
    _same(delivery["state"], decision["kind"], f"{name} is in another state than was decided")
    row = _only(rows, f"{name} was decided")
    _same(row["verb"], DECIDING.get(decision["kind"]), f"{name} was decided otherwise")
    _same(row["actor"][:2], ["PERSON", decision["reviewer"]["id"]], f"{name} was decided by another person")
    _same(decision["decidedAt"], row["at"], f"{name} was decided at another time")
    _same(
        decision["subjectDigest"], delivery["subjectDigest"], f"{name}: the decision is about another subject"
    )
    makers = {maker["id"] for maker in [*delivery["makers"], *decision["makers"]]}
    if decision["reviewer"]["id"] in makers and "SELF_REVIEW" not in decision["marks"]:
        raise Wrong(f"{name} was decided by one of its makers, and is not marked SELF_REVIEW.")


def _all_told(record: Part) -> None:
    """Nothing that the history tells of was left out of the record."""
    known = {attempt["attemptId"] for attempt in record["attempts"]}
    for row in record["history"]:
        if "ttlSeconds" in row["body"] and row["attemptId"] not in known:
            raise Wrong(
                f"Version {row['stateVersion']} ({row['verb']}) granted an attempt that the record leaves out."
            )
    rounds = len(_rows_of(record, "deliver"))
    _same(len(record["deliveries"]), rounds, "The record has another number of rounds than the history")


def _commit(record: Part) -> None:
    """One canonical commit, with the fence of the attempt that delivered what was accepted."""
    commit, name = record["commit"], "The canonical commit"
    row = _only(_rows_of(record, "accept", "commit"), "The task was committed")
    _same(row["to"], "DONE", f"{name} leads to another state")
    _same(row["body"].get("commit"), commit["commitId"], f"{name} has another id than its row")
    _same(commit["committedAt"], row["at"], f"{name} was made at another time")
    attempt = _attempt_of(record, commit, name)
    _told(row, commit, name)
    in_time = [one["resultDigest"] for one in attempt["staged"] if not one["late"]]
    if commit["resultDigest"] not in in_time:
        raise Wrong("The result that was committed was not staged in time by its attempt.")
    if row["verb"] == "commit":
        _same(
            (commit["deliveryId"], commit["reviewer"]), (None, None), "The commit of an agent names a review"
        )
        _same(row["actor"][:2], ["AGENT", attempt["agent"]["id"]], f"{name} is of another agent")
        return
    accepted = [one for one in record["deliveries"] if one["state"] == "ACCEPTED"]
    if [one["deliveryId"] for one in accepted] != [commit["deliveryId"]]:
        raise Wrong("The canonical commit does not name the one round that was accepted.")
    for part in ("attemptId", "fence", "resultDigest"):
        _same(commit[part], accepted[0][part], f"{name} has another {part} than the round that was accepted")
    _same(commit["reviewer"], accepted[0]["decision"]["reviewer"], f"{name} names another reviewer")


def _effects(record: Part) -> None:
    """Named by task and slot, bound to one payload, and where the steps of the history lead."""
    known = {effect["effectId"] for effect in record["effects"]}
    taken: dict[str, list[Part]] = {}
    for row, step in _steps(record):
        before = taken.setdefault(step["effectId"], [])
        name = f"Version {row['stateVersion']} ({row['verb']}), slot {step['slot']}"
        if step["effectId"] not in known:
            raise Wrong(f"{name}: the record does not have this effect.")
        _same(
            step["from"], before[-1]["to"] if before else None, f"{name} does not go on from where it stood"
        )
        before.append(step)
    for effect in record["effects"]:
        _effect(record, effect, taken.get(effect["effectId"], []))


def _effect(record: Part, effect: Part, steps: Sequence[Part]) -> None:
    task, name = record["task"], f"The effect of slot {effect['slot']}"
    computed = effect_id(task["taskId"], task["nodeId"], effect["slot"])
    _same(effect["effectId"], computed, f"{name} is not named by its task and slot")
    slot = next(
        (one for one in record["input"].get("effects", []) if one.get("slot") == effect["slot"]), None
    )
    if slot is None:
        raise Wrong(f"{name} is not declared in the input.")
    declared = (slot.get("target"), bool(slot.get("required")))
    _same((effect["target"], effect["required"]), declared, f"{name} is not what the input declares")
    _same(effect["payloadDigest"], digest(effect["payload"]), f"{name} has another payload than was bound")
    for row in _rows_of(record, "prepare"):
        if [step["effectId"] for step in row["body"].get("effects", [])] == [effect["effectId"]]:
            _same(
                row["body"].get("payloadDigest"),
                effect["payloadDigest"],
                f"{name} was prepared with another payload",
            )
    for number, permit in enumerate(effect["permits"], 1):
        row = _only(
            _rows_of(record, "execute", permitId=permit["permitId"]),
            f"Permit {number} of {effect['slot']} was handed out",
        )
        found = (permit["number"], permit["attemptId"], fence_text(permit["fence"]))
        _same(
            found,
            (row["body"].get("permit"), row["attemptId"], row["validated"]),
            f"{name} has another permit {number}",
        )
    ended = (steps[-1]["to"] if steps else None, len(steps))
    _same((effect["state"], effect["version"]), ended, f"{name} is not where its history leads")
    if effect["state"] not in SETTLED:
        raise Wrong(f"{name} is {effect['state']}: a task is not done before its effects are settled.")


def _steps(record: Part) -> Iterator[tuple[Part, Part]]:
    return ((row, step) for row in record["history"] for step in row["body"].get("effects", []))


def _files(evidence: Sequence[Part], folder: Path) -> None:
    """Every piece of evidence is a file of the folder, known by its SHA-256 and size."""
    found = {sha256_of(path): path for path in sorted(folder.rglob("*")) if path.is_file()}
    for number, item in enumerate(evidence, 1):
        path = found.get(item["sha256"])
        if path is None:
            named = [
                one
                for one in found.values()
                if one.stem == item["name"] or one.name.startswith(f"{number:03d}-")
            ]
            hint = f" {named[0]} has other bytes." if named else ""
            raise Wrong(f"No file of {folder} is the evidence {item['name']}, sha256 {item['sha256']}.{hint}")
        _same(path.stat().st_size, item["size"], f"The evidence {item['name']} is of another size")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, read in parts."""
    seen = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            seen.update(chunk)
    return seen.hexdigest()
