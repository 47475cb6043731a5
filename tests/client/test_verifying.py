"""``fencepost verify``: a record that holds has a certificate, and whatever is changed in one is found."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from typer.testing import CliRunner

from claims import transitions
from claims.callers import SYSTEM, Caller
from claims.inputs import NewTask
from claims.models import Delivery
from claims.outcomes import Committed, Created, Decided, EffectMoved
from claims.selectors import provenance
from claims.transitions import StagedResult
from claims.vocabulary import ReviewPolicy, Source, Verdict
from client.cli import app
from client.records import Wrong, parsed
from client.verifying import GENESIS, canonical, digest, fence_text, verify
from tests.support.effects import a_slot, permitted, prepared, with_slots
from tests.support.world import DIFF, World, a_specification, a_world, judgement

Record = dict[str, Any]
Change = Callable[[Record], object]

_whole: list[Record] = []


@pytest.fixture
def world(db: None) -> World:
    return a_world(allows_unreviewed=True)


def statement_of(task_id: UUID) -> Record:
    """The record as somebody who downloaded it reads it."""
    record = provenance.record_of(task_id)
    assert record is not None
    return dict(parsed(provenance.written(record)))


def accept(world: World, delivery: Delivery) -> None:
    answer = transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    assert isinstance(answer, Committed), answer


def story(world: World) -> UUID:
    """A task built on another, with an effect that was sent, sent back once and accepted."""
    first = NewTask("First", a_specification(evidence=[]), node_id="base", review_policy=ReviewPolicy.NONE)
    second = NewTask("Second", with_slots(a_slot()), node_id="page", depends_on=("base",))
    made = transitions.create(Caller(SYSTEM, Source.COMMAND), world.pool.name, [first, second])
    assert isinstance(made, Created), made
    base, page = (task.task_id for task in made.tasks)
    granted = world.claimed(task_id=base)
    done = transitions.commit(
        world.caller(),
        granted.fence,
        granted.input_digest,
        staged=StagedResult({"share": 0.5, "most": 1e21}, ()),
    )
    assert isinstance(done, Committed), done
    granted = world.claimed(task_id=page)
    effect_id = prepared(world, granted)
    permit = permitted(world, granted, effect_id)
    moved = transitions.confirm(world.caller(), granted.fence, effect_id, permit.permit_id, {"id": "msg-1"})
    assert isinstance(moved, EffectMoved), moved
    delivery = world.delivered(granted=granted)
    sent_back = transitions.request_changes(
        world.person(world.reviewer), delivery.id, judgement(delivery, Verdict.NOT_MET, "Say it in one line.")
    )
    assert isinstance(sent_back, Decided), sent_back
    accept(world, world.delivered(granted=world.regranted(page)))
    return page


@pytest.fixture
def whole(request: pytest.FixtureRequest) -> Record:
    """The statement of that story, made once and copied for each test."""
    if not _whole:
        _whole.append(statement_of(story(request.getfixturevalue("world"))))
    return copy.deepcopy(_whole[0])


def rehashed(statement: Record) -> Record:
    """The statement with its chain made anew, as a forger would who knows how."""
    previous = GENESIS
    for row in statement["predicate"]["history"]:
        told = {name: value for name, value in row.items() if name != "hash"}
        previous = hashlib.sha256(previous + canonical(told)).digest()
        row["hash"] = previous.hex()
    statement["predicate"]["head"]["hash"] = previous.hex()
    return statement


def wrong(statement: Record, evidence: Path | None = None) -> str:
    with pytest.raises(Wrong) as found:
        verify(parsed(json.dumps(statement).encode()), evidence)
    return str(found.value)


def row(record: Record, verb: str, at: int = -1) -> Record:
    return [each for each in record["history"] if each["verb"] == verb][at]


def test_a_record_of_a_whole_story_holds(whole: Record) -> None:
    verify(whole)
    record = whole["predicate"]
    assert [len(record[part]) for part in ("pins", "attempts", "deliveries", "effects")] == [1, 2, 2, 1]


def test_a_record_of_a_commit_without_review_holds_and_so_do_its_odd_numbers(world: World) -> None:
    task_id = world.task(review_policy=ReviewPolicy.NONE, input=a_specification(evidence=[]))
    granted = world.claimed(task_id=task_id)
    result = {
        "most": 1e21,
        "least": -0.0,
        "text": "\u20ac\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    }
    transitions.commit(world.caller(), granted.fence, granted.input_digest, staged=StagedResult(result, ()))

    statement = statement_of(task_id)

    verify(statement)
    reviewed, other = copy.deepcopy(statement), copy.deepcopy(statement)
    reviewed["predicate"]["commit"]["deliveryId"] = ID
    assert "The commit of an agent names a review" in wrong(reviewed)
    row(other["predicate"], "commit")["actor"][1] = 0
    assert "The canonical commit is of another agent" in wrong(rehashed(other))


def set_to(*path: Any, to: Any) -> Change:
    def change(record: Record) -> None:
        part = record
        for name in path[:-1]:
            part = part[name]
        assert part[path[-1]] != to
        part[path[-1]] = to

    return change


OTHER = "sha256:" + "0" * 64
ID = "01890a5d-ac96-774b-bcce-b302099a8057"

CHANGED: list[tuple[Change, str]] = [
    (set_to("input", "task", to="Do something else"), "The input digest is not that of the input and its pins"),
    (set_to("pins", 0, "resultDigest", to=OTHER), "The input digest is not that of the input and its pins"),
    (set_to("result", to={"done": False}), "The result digest is not that of the result and its evidence"),
    (set_to("evidence", 0, "size", to=1), "The result digest is not that of the result and its evidence"),
    (set_to("head", "hash", to="00"), "The head is not the hash of the last row"),
    (set_to("head", "stateVersion", to=3), "The head names another version than the last row"),
    (set_to("history", 2, "at", to="2020-01-01T00:00:00.000000+00:00"), "Version 3 (claim) is not what was written"),
    (set_to("attempts", 1, "fence", "schedulerEpoch", to=77), "The attempt of generation 2 was granted another fence"),
    (set_to("attempts", 1, "grantedVersion", to=2), "names another row as its grant"),
    (set_to("attempts", 0, "attemptId", to=ID), "was granted by no row of the history"),
    (set_to("deliveries", 1, "subjectDigest", to=OTHER), "Round 2: the subject digest is not that of what was delivered"),
    (set_to("deliveries", 1, "inputDigest", to=OTHER), "Round 2 was made for another input"),
    (set_to("deliveries", 0, "resultDigest", to=OTHER), "Round 1 has another result than its row"),
    (set_to("deliveries", 1, "fence", "claimGeneration", to=9), "Round 2 is not under its attempt's fence"),
    (set_to("deliveries", 1, "round", to=3), "Round 2 is missing, the next delivery is round"),
    (set_to("deliveries", 1, "deliveryId", to=ID), "Round 2 was delivered by no rows"),
    (set_to("deliveries", 1, "agent", "id", to=0), "Round 2 was delivered by another agent"),
    (set_to("deliveries", 1, "decision", "subjectDigest", to=OTHER), "Round 2: the decision is about another subject"),
    (set_to("deliveries", 1, "decision", "reviewer", "id", to=0), "Round 2 was decided by another person"),
    (set_to("deliveries", 1, "decision", to=None), "Round 2 was decided, and the record has no decision on it"),
    (set_to("deliveries", 0, "state", to="ACCEPTED"), "Round 1 is in another state than was decided"),
    (set_to("commit", "commitId", to=ID), "The canonical commit has another id than its row"),
    (set_to("commit", "fence", "claimGeneration", to=1), "The canonical commit is not under its attempt's fence"),
    (set_to("commit", "attemptId", to=ID), "The canonical commit names an attempt that the record does not have"),
    (set_to("commit", "deliveryId", to=ID), "does not name the one round that was accepted"),
    (set_to("commit", "reviewer", "name", to="somebody"), "The canonical commit names another reviewer"),
    (set_to("attempts", 1, "staged", 0, "late", to=True), "was not staged in time by its attempt"),
    (set_to("effects", 0, "slot", to="post"), "The effect of slot post is not named by its task and slot"),
    (set_to("task", "nodeId", to="other"), "The effect of slot mail is not named by its task and slot"),
    (set_to("effects", 0, "payload", to={"to": "all"}), "The effect of slot mail has another payload than was bound"),
    (set_to("effects", 0, "state", to="ABANDONED"), "The effect of slot mail is not where its history leads"),
    (set_to("effects", 0, "version", to=9), "The effect of slot mail is not where its history leads"),
    (set_to("attempts", 1, "startedAt", to="2020"), "began at another time than its grant"),
    (set_to("deliveries", 1, "deliveredAt", to="2020"), "Round 2 was delivered at another time"),
    (set_to("deliveries", 1, "decision", "decidedAt", to="2020"), "Round 2 was decided at another time"),
    (set_to("commit", "committedAt", to="2020"), "The canonical commit was made at another time"),
    (set_to("task", "number", to=7), "The history is of another number"),
    (set_to("effects", 0, "target", to="elsewhere"), "The effect of slot mail is not what the input declares"),
    (set_to("effects", 0, "permits", 0, "number", to=2), "The effect of slot mail has another permit 1"),
    (set_to("effects", 0, "permits", 0, "permitId", to=ID), "Permit 1 of mail was handed out by no rows"),
    (lambda record: record["history"][0].pop("source"), "Version 1 (create) has no part source"),
    (lambda record: record["attempts"].reverse(), "or they are out of order"),
    (set_to("attempts", 1, "agent", "id", to=0), "Round 2 is of another agent than its attempt"),
    (set_to("effects", to=[]), "the record does not have this effect"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "sentence"), CHANGED, ids=[sentence for _, sentence in CHANGED])
def test_a_changed_part_is_found(whole: Record, change: Change, sentence: str) -> None:
    change(whole["predicate"])

    assert sentence in wrong(whole)


def by_the_first_attempt(record: Record) -> None:
    """The commit is that of the attempt whose round was sent back; it had staged the same bytes."""
    first, committed = record["attempts"][0], row(record, "accept")
    record["commit"] |= {"attemptId": first["attemptId"], "fence": first["fence"]}
    committed |= {"attemptId": first["attemptId"], "validated": fence_text(first["fence"])}


def never_settled(record: Record) -> None:
    row(record, "confirm")["body"]["effects"][0]["to"] = record["effects"][0]["state"] = "UNKNOWN"


FORGED: list[tuple[Change, str]] = [
    (lambda record: record["history"].pop(3), "Version 4 of the history is missing, the next row: 5"),
    (lambda record: set_to("taskId", to=ID)(row(record, "deliver")), "is of another task"),
    (lambda record: set_to("from", to="HELD")(row(record, "deliver")), "does not begin where the row before it ended"),
    (lambda record: set_to("validated", to="77.1.0")(row(record, "accept")), "The canonical commit was compared with another fence"),
    (lambda record: set_to("attemptId", to=ID)(row(record, "accept")), "The canonical commit names another attempt than its row"),
    (lambda record: set_to("actor", to=["AGENT", 1, "x"])(row(record, "accept")), "Round 2 was decided by another person"),
    (lambda record: set_to("verb", to="reject")(row(record, "accept")), "Round 2 was decided otherwise"),
    (lambda record: set_to("validated", to="77.1.0")(row(record, "deliver", 0)), "Round 1 was compared with another fence"),
    (lambda record: set_to("body", "round", to=7)(row(record, "deliver")), "Round 2 was told as another round"),
    (lambda record: set_to("body", "commit", to=ID)(row(record, "accept")), "The canonical commit has another id than its row"),
    (lambda record: set_to("body", "schedulerEpoch", to=77)(row(record, "claim")), "was granted another fence"),
    (lambda record: set_to("body", "payloadDigest", to=OTHER)(row(record, "prepare")), "was prepared with another payload"),
    (lambda record: set_to("to", to="HELD")(row(record, "accept")), "The canonical commit leads to another state"),
    (lambda record: by_the_first_attempt(record), "The canonical commit has another attemptId than the round that was accepted"),
    (lambda record: never_settled(record), "is UNKNOWN: a task is not done before its effects are settled"),
    (lambda record: set_to("body", "inputDigest", to=OTHER)(row(record, "open")), "The history names another input"),
    (lambda record: row(record, "open")["body"].pop("inputDigest"), "No row of the history names the input"),
    (lambda record: row(record, "open")["body"].update(ttlSeconds=1), "granted an attempt that the record leaves out"),
    (lambda record: set_to("verb", to="deliver")(row(record, "open")), "The record has another number of rounds than the history"),
    (lambda record: set_to("body", "effects", 0, "from", to="UNKNOWN")(row(record, "confirm")), "does not go on from where it stood"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "sentence"), FORGED, ids=[sentence for _, sentence in FORGED])
def test_a_chain_that_was_made_anew_still_has_to_agree_with_the_rest(
    whole: Record, change: Change, sentence: str
) -> None:
    change(whole["predicate"])

    assert sentence in wrong(rehashed(whole))


UNBOUND = {
    "task": {"pool", "title", "lineage", "revision", "createdBy", "createdAt", "state", "stale", "cancelGeneration",
             "reviewPolicy", "reviewer", "reviewerGroup"},
    "pins": {"taskId", "number", "commitId"},
    "attempts": {"agent", "owner", "counted", "adoptedFrom", "endedAt", "outcome", "cost", "staged"},
    "deliveries": {"agent", "makers", "summary", "needs", "claims", "closedAt", "decision"},
    "decision": {"reviewer", "makers", "verdicts", "comments", "note", "reason", "marks"},
    "effects": {"mode", "serialKey", "preparedBy", "preparedAt", "receipt", "permits", "approvals", "observations"},
    "commit": {"reviewer"},
}  # fmt: skip
"""Parts that are carried as they are stored, as the how-to says; of some of them a field is bound all the same."""


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [leaf for name, part in value.items() for leaf in leaves(part, (*path, name))]
    if isinstance(value, list):
        return [leaf for at, part in enumerate(value) for leaf in leaves(part, (*path, at))]
    return [path]


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return f"{value}x"


def test_every_value_that_is_not_listed_as_unbound_is_bound(whole: Record) -> None:
    found = set()
    for path in leaves(whole["predicate"]):
        changed = copy.deepcopy(whole)
        part = changed["predicate"]
        for name in path[:-1]:
            part = part[name]
        part[path[-1]] = other(part[path[-1]])
        try:
            verify(changed)
        except Wrong:
            continue
        names = [name for name in path if isinstance(name, str)]
        found.add(("decision", names[2]) if names[:2] == ["deliveries", "decision"] else (names[0], names[1]))

    assert ("decision", "note") in found
    assert found <= {(part, name) for part, names in UNBOUND.items() for name in names}


def test_a_maker_who_decides_is_found_unless_it_is_marked(whole: Record) -> None:
    delivery = whole["predicate"]["deliveries"][1]
    delivery["makers"].append(delivery["decision"]["reviewer"])
    assert "decided by one of its makers" in wrong(whole)

    delivery["decision"]["marks"].append("SELF_REVIEW")
    verify(whole)


def replaced(statement: Record, old: str, new: str) -> Record:
    """The statement with one digest put in the place of another, wherever it stands."""
    found: Record = json.loads(
        json.dumps(statement).replace(old.removeprefix("sha256:"), new.removeprefix("sha256:"))
    )
    return found


def with_subjects(statement: Record) -> Record:
    """The statement with the subject digests of its rounds computed again."""
    for one in statement["predicate"]["deliveries"]:
        names = ("deliveryId", "round", "inputDigest", "resultDigest", "attemptId")
        fence = {name: one["fence"][name] for name in ("claimGeneration", "schedulerEpoch")}
        computed = digest({**{name: one[name] for name in names}, **fence})
        statement = replaced(statement, one["subjectDigest"], computed)
    return rehashed(statement)


def test_an_effect_that_the_input_does_not_declare_is_found_although_all_digests_agree(whole: Record) -> None:
    record = whole["predicate"]
    record["input"]["effects"] = []
    pinned = {pin["nodeId"]: pin["resultDigest"] for pin in record["pins"]}
    computed = digest({"input": record["input"], "predecessors": pinned})

    found = wrong(with_subjects(replaced(whole, record["inputDigest"], computed)))

    assert found == "The effect of slot mail is not declared in the input."


def test_a_size_that_is_not_the_file_s_is_found_although_all_digests_agree(
    whole: Record, tmp_path: Path
) -> None:
    record = whole["predicate"]
    (tmp_path / "diff").write_bytes(DIFF)
    record["evidence"][0]["size"] += 1
    computed = digest({"evidence": record["evidence"], "result": record["result"]})

    found = wrong(with_subjects(replaced(whole, record["commit"]["resultDigest"], computed)), tmp_path)

    assert "The evidence diff is of another size" in found


def test_subjects_are_the_result_and_each_piece_of_evidence(whole: Record) -> None:
    assert [subject["digest"]["sha256"] for subject in whole["subject"][1:]] == [
        hashlib.sha256(DIFF).hexdigest()
    ]
    whole["subject"].pop()

    assert "The subjects of the statement are not the result and the evidence" in wrong(whole)


@pytest.mark.parametrize(
    "part",
    ["task", "input", "pins", "attempts", "deliveries", "evidence", "effects", "commit", "history", "head"],
)
def test_a_part_that_is_missing_or_of_another_kind_is_said(whole: Record, part: str) -> None:
    broken = copy.deepcopy(whole)
    broken["predicate"][part] = 7
    assert f"The record, {part} is no" in wrong(broken)
    del whole["predicate"][part]
    assert f"The record has no part {part}." in wrong(whole)


def ran(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["verify", *arguments])


def test_the_command_prints_a_certificate_or_what_is_wrong(whole: Record, tmp_path: Path) -> None:
    file, folder = tmp_path / "record.json", tmp_path / "evidence"
    folder.mkdir()
    (folder / "001-diff.diff").write_bytes(DIFF)
    file.write_text(json.dumps(whole))

    held = ran(str(file), "--evidence", str(folder))
    assert (held.exit_code, held.output.splitlines()[0]) == (
        0,
        f"The record of T-{whole['predicate']['task']['number']} holds.",
    )
    assert f"sha256:{whole['predicate']['head']['hash']}" in held.output
    assert "1 piece, every file found" in held.output
    assert f"by {row(whole['predicate'], 'accept')['actor'][2]} at" in held.output
    assert f"by {row(whole['predicate'], 'deliver')['actor'][2]}, owner" in held.output
    assert "files not looked at" in ran(str(file)).output

    (folder / "001-diff.diff").write_bytes(DIFF + b"\n")
    other = ran(str(file), "--evidence", str(folder))
    assert other.exit_code == 1
    assert "is the evidence diff" in other.output
    assert "001-diff.diff has other bytes" in other.output

    assert ran(str(tmp_path / "nothing.json")).exit_code == 2
