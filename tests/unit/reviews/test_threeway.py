"""Two people changed the same task: what differs field by field, and what the merge takes."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.taskpage import asked, threeway
from reviews.taskpage.template_yaml import source_of

BASE: dict[str, Any] = {
    "title": "Dunning",
    "task": "Send it.\nKeep the rest.",
    "scope": {"files": ["app/**", "tests/**"], "excluded": ["app/vendor/**"]},
    "access": ["pdf"],
    "acceptance": [{"text": "It is sent", "proof": "log"}, {"text": "Tests pass"}],
    "evidence": [{"kind": "test-report", "name": "report", "criteria": [2]}],
    "effects": [{"slot": "mail", "mode": "QUERYABLE", "target": "post"}],
}


def changed(**parts: Any) -> dict[str, Any]:
    return {**BASE, **parts}


def rows(now: dict[str, Any], yours: dict[str, Any]) -> dict[str, threeway.Row]:
    return {row.name: row for row in asked.rows_of(*asked.sides_of(BASE, now, yours))}


def merge(now: dict[str, Any], yours: dict[str, Any]) -> dict[str, Any]:
    return asked.merged(*asked.sides_of(BASE, now, yours))


def test_a_field_only_one_side_changed_takes_that_side() -> None:
    base, now, yours = {"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 1, "c": 1}, {"a": 1, "b": 2, "c": 1}
    assert threeway.merged(base, now, yours) == {"a": 2, "b": 2, "c": 1}
    assert list(threeway.compared(base, now, yours)) == ["a", "b"]


def test_a_field_both_changed_keeps_yours_and_is_to_settle() -> None:
    base, now, yours = {"a": 1}, {"a": 2}, {"a": 3}
    assert threeway.merged(base, now, yours) == {"a": 3}
    assert threeway.compared(base, now, yours)["a"].is_to_settle


def test_the_same_change_on_both_sides_is_nothing_to_settle() -> None:
    one = threeway.compared({"a": 1}, {"a": 2}, {"a": 2})["a"]
    assert (one.is_mine, one.is_theirs, one.is_to_settle) == (True, True, False)


@pytest.mark.parametrize(
    ("now", "yours", "expected"),
    [({"a": 1}, {}, {}), ({}, {"a": 1}, {}), ({"a": 2}, {}, {}), ({}, {"a": 2}, {"a": 2})],
)
def test_what_one_side_takes_out_is_out_unless_you_changed_it(
    now: dict[str, int], yours: dict[str, int], expected: dict[str, int]
) -> None:
    assert threeway.merged({"a": 1}, now, yours) == expected


def test_nothing_differs_between_equal_inputs_however_they_are_written() -> None:
    same = changed(
        acceptance=[{"text": "It is sent", "proof": "log"}, {"text": "Tests pass", "proof": ""}],
        effects=[{"slot": "mail", "mode": "QUERYABLE", "target": "post", "required": False}],
    )
    assert rows(same, same) == {}
    assert merge(BASE, BASE) == BASE


def test_a_setting_of_zero_is_a_value() -> None:
    yours = changed(effects=[{**BASE["effects"][0], "settleSeconds": 0}])
    assert rows(BASE, yours)["Effect mail"].yours.endswith("settleSeconds: 0")


def test_each_field_of_an_input_is_compared_by_itself() -> None:
    yours = changed(
        title="Reminders",
        task="Other.",
        scope={"files": ["src/**", "tests/**"], "excluded": []},
        access=["pdf", "browser"],
        acceptance=[{"text": "It is sent twice", "proof": "log"}, {"text": "Tests pass"}],
        evidence=[{"kind": "test-report", "name": "report", "criteria": [1]}],
        effects=[{"slot": "mail", "mode": "QUERYABLE", "target": "pigeon"}],
    )
    found = rows(BASE, yours)
    assert list(found) == [
        "Title",
        "Task",
        "File in scope",
        "Excluded file",
        "Criterion 1",
        "Evidence report",
        "Effect mail",
        "Label",
    ]
    assert (found["File in scope"].base, found["File in scope"].yours) == ("app/**", "src/**")
    assert (found["Excluded file"].base, found["Excluded file"].yours) == ("app/vendor/**", "")
    assert (found["Label"].base, found["Label"].yours) == ("", "browser")
    assert all(row.difference.is_mine and not row.difference.is_theirs for row in found.values())
    assert merge(BASE, yours) == {
        **{key: value for key, value in yours.items() if key != "scope"},
        "scope": {"files": ["src/**", "tests/**"]},
    }


def test_two_changed_different_criteria_and_both_changes_are_kept() -> None:
    now = changed(acceptance=[BASE["acceptance"][0], {"text": "Tests and types pass"}])
    yours = changed(acceptance=[{"text": "It is sent once", "proof": "log"}, BASE["acceptance"][1]])
    assert [one["text"] for one in merge(now, yours)["acceptance"]] == [
        "It is sent once",
        "Tests and types pass",
    ]
    assert not any(row.difference.is_to_settle for row in rows(now, yours).values())


def test_two_changed_the_same_criterion_and_it_is_marked() -> None:
    now = changed(acceptance=[BASE["acceptance"][0], {"text": "Types pass"}])
    yours = changed(acceptance=[BASE["acceptance"][0], {"text": "Everything passes"}])
    row = rows(now, yours)["Criterion 2"]
    assert (row.base, row.now, row.yours) == (
        "text: Tests pass",
        "text: Types pass",
        "text: Everything passes",
    )
    assert row.difference.is_to_settle
    assert merge(now, yours)["acceptance"][1] == {"text": "Everything passes"}


def test_items_put_in_by_both_stand_behind_what_they_stood_behind() -> None:
    first, second = BASE["acceptance"]
    now = changed(acceptance=[first, second, {"text": "Theirs, at the end"}])
    yours = changed(acceptance=[{"text": "Mine, first"}, first, {"text": "Mine, between"}, second])
    texts = [one["text"] for one in merge(now, yours)["acceptance"]]
    assert texts == ["Mine, first", "It is sent", "Mine, between", "Tests pass", "Theirs, at the end"]


def test_the_same_item_put_in_by_both_is_there_once() -> None:
    both = changed(access=["pdf", "browser"])
    assert merge(both, both)["access"] == ["pdf", "browser"]


def test_an_item_that_stands_twice_stays_twice() -> None:
    yours = changed(access=["pdf", "gpu", "gpu"])
    assert merge(BASE, yours)["access"] == ["pdf", "gpu", "gpu"]


def test_evidence_names_the_same_criterion_when_another_is_put_before_it() -> None:
    now = changed(acceptance=[{"text": "New, first"}, *BASE["acceptance"]])
    now["evidence"] = [{"kind": "test-report", "name": "report", "criteria": [3]}]
    yours = changed(title="Reminders")
    assert "Evidence report" not in rows(now, yours)
    found = merge(now, yours)
    assert (found["title"], found["evidence"][0]["criteria"]) == ("Reminders", [3])


def test_evidence_added_by_you_follows_its_criterion_through_the_merge() -> None:
    now = changed(acceptance=[{"text": "New, first"}, *BASE["acceptance"]])
    now["evidence"] = [{"kind": "test-report", "name": "report", "criteria": [3]}]
    yours = changed(evidence=[*BASE["evidence"], {"kind": "log", "name": "sent", "criteria": [1]}])
    assert [one["criteria"] for one in merge(now, yours)["evidence"]] == [[3], [2]]


def test_evidence_of_a_criterion_that_is_gone_names_it_no_more() -> None:
    yours = changed(acceptance=[BASE["acceptance"][0]], evidence=[{"kind": "test-report", "name": "report"}])
    now = changed(evidence=[*BASE["evidence"], {"kind": "log", "name": "sent", "criteria": [1, 2]}])
    found = merge(now, yours)
    assert [one["text"] for one in found["acceptance"]] == ["It is sent"]
    assert found["evidence"][1] == {"kind": "log", "name": "sent", "criteria": [1]}


def test_a_merge_can_be_written_as_a_template() -> None:
    found = merge(changed(title="Now"), changed(task="Yours.\nTwo lines."))
    assert source_of(found["title"], found).startswith(
        "title: Now\ntask: |-\n  Yours.\n  Two lines.\nscope:\n"
    )
