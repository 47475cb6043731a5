"""What is printed of a record that holds: whose work it is, who accepted it, under which authority, on which digests.

Promises: who made and who accepted it is read from the history, whose hashes bind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

Part = Mapping[str, Any]


def certificate(statement: Part, *, with_files: bool) -> str:
    """Some lines for people; the first one says that the record holds."""
    record = statement["predicate"]
    lines = [f"The record of T-{record['task']['number']} holds."]
    lines += [f"  {name:<10}{words}" for name, words in _lines(record, with_files=with_files)]
    return "\n".join(lines)


def _lines(record: Part, *, with_files: bool) -> Iterator[tuple[str, str]]:
    task, commit, evidence = record["task"], record["commit"], record["evidence"]
    yield "task", f"{task['title']}, revision {task['revision']}, pool {task['pool']}"
    pins = f", pinned to {_counted(len(record['pins']), 'result')}" if record["pins"] else ""
    yield "input", f"{record['inputDigest']}{pins}"
    attempt = next(one for one in record["attempts"] if one["attemptId"] == commit["attemptId"])
    fence = commit["fence"]
    under = f"epoch {fence['schedulerEpoch']}, generation {fence['claimGeneration']}"
    yield "claimed", f"by {_maker(record)}, owner {attempt['owner']['name']}, {under}"
    yield "result", commit["resultDigest"]
    yield from _accepted(record)
    looked = "every file found" if with_files else "files not looked at"
    yield "evidence", f"{_counted(len(evidence), 'piece')}, {looked}"
    if record["effects"]:
        states = Counter(effect["state"].lower().replace("_", " ") for effect in record["effects"])
        yield "effects", ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    yield (
        "history",
        f"{_counted(len(record['history']), 'row')}, {_counted(len(record['attempts']), 'attempt')}",
    )
    yield "head", f"sha256:{record['head']['hash']}"


def _accepted(record: Part) -> Iterator[tuple[str, str]]:
    commit = record["commit"]
    if commit["deliveryId"] is None:
        yield "committed", f"by its agent at {commit['committedAt']}; no review was asked for"
        return
    delivery = next(one for one in record["deliveries"] if one["deliveryId"] == commit["deliveryId"])
    decision = delivery["decision"]
    yield "delivered", f"round {delivery['round']}, subject {delivery['subjectDigest']}"
    marks = f", marked {', '.join(decision['marks'])}" if decision["marks"] else ""
    verdicts = f", {_counted(len(decision['verdicts']), 'verdict')}" if decision["verdicts"] else ""
    yield "accepted", f"by {_row(record, 'accept')['actor'][2]} at {commit['committedAt']}{verdicts}{marks}"


def _maker(record: Part) -> str:
    """The agent that handed in what was committed."""
    row = _row(record, "commit" if record["commit"]["deliveryId"] is None else "deliver")
    return str(row["actor"][2])


def _row(record: Part, verb: str) -> Part:
    """The last row of a verb; the commit is of the last round that was delivered."""
    rows: list[Part] = [row for row in record["history"] if row["verb"] == verb]
    return rows[-1]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
