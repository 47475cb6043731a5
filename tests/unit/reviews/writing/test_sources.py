"""Form and YAML are one text: what is typed in either, in both, or in neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from claims.taskfile import check_template, load_template
from reviews.writing import sources
from reviews.writing.fields import ROWS, SINGLE, place_of, rows_of, values_of
from reviews.writing.sources import Unreadable, changed, edited, merged
from tests.unit.reviews.writing.conftest import GOOD

DEMO = sorted((Path(__file__).parents[4] / "agents" / "demo" / "tasks").glob("*.yaml"))


def form(text: str, **changes: str) -> dict[str, str]:
    """The form as it was drawn from a text, with something typed in it."""
    named = {name.replace("__", "-"): value for name, value in changes.items()}
    return values_of(check_template(text).body or {}) | named


def body(text: str) -> dict:
    found = check_template(text).body
    assert found is not None
    return found


@pytest.mark.parametrize("path", DEMO, ids=lambda path: path.stem)
def test_a_form_that_was_not_typed_in_leaves_every_byte_of_the_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert merged(text, text, form(text)).text == text


@pytest.mark.parametrize("path", DEMO, ids=lambda path: path.stem)
def test_what_the_form_writes_is_read_again_as_it_was_typed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    said = "One: two # three\n  - four\n\n\"five\" 'six'\t"
    now = merged(text, text, form(text, task=said, acceptance__1__text=said, files="a b/**\r\n\r\n*.py")).text
    read = load_template(now).task.input
    assert read["task"] == said
    assert read["acceptance"][0]["text"] == said
    assert read["scope"]["files"] == ["a b/**", "*.py"]


def test_comments_unknown_keys_and_the_order_of_keys_stay() -> None:
    text = GOOD.replace("task: Write", "wishes: many\ntask: Write")
    now = merged(text, text, form(text, title="Months", priority="1")).text
    assert now.startswith("title: Months\n# kept as it is\nwishes: many\ntask: Write")
    assert now.endswith("priority: 1\n")


def test_what_was_typed_on_both_sides_is_kept_from_both() -> None:
    typed = GOOD.replace("the tests", "the added tests").replace(
        "pool: billing", "pool: billing\npriority: 3"
    )
    now = body(merged(GOOD, typed, form(GOOD, title="Months", ttl="90")).text)
    assert (now["title"], now["ttl"], now["priority"]) == ("Months", 90, 3)
    assert now["acceptance"][0]["proof"] == "the added tests"


@pytest.mark.parametrize("broken", [GOOD + "  - [", "- a list\n", "a: &x 1\nb: *x\n", "title: 'open\n"])
def test_a_text_that_cannot_be_read_is_never_written_over_and_the_form_waits(broken: str) -> None:
    waiting = merged(GOOD, broken, form(GOOD, title="Months"))
    assert (waiting.text, waiting.base) == (broken, GOOD)
    assert waiting.pending["title"] == "Months"
    again = merged(waiting.base, GOOD + "priority: 3\n", waiting.pending)
    assert (body(again.text)["title"], body(again.text)["priority"], again.pending) == ("Months", 3, {})


def test_a_text_that_cannot_be_read_keeps_the_base_while_nothing_is_typed_in_the_form() -> None:
    assert merged(GOOD, GOOD + "  - [", form(GOOD)).base == GOOD


def test_a_field_that_is_emptied_leaves_the_text() -> None:
    text = GOOD + "ttl: 90\n"
    now = merged(text, text, form(text, ttl="", acceptance__1__proof="")).text
    assert "ttl" not in now
    assert "proof" not in now
    assert body(merged(GOOD, GOOD, form(GOOD, acceptance__1__text="")).text)["acceptance"][0]["text"] == ""


@pytest.mark.parametrize(
    ("word", "keys"),
    [
        ("person:ines", {"reviewer": "ines"}),
        ("group:desk", {"reviewerGroup": "desk"}),
        ("none", {"reviewPolicy": "NONE"}),
        ("", {}),
    ],
)
def test_who_decides_is_one_choice_of_three_keys(word: str, keys: dict[str, str]) -> None:
    text = GOOD + "reviewer: ben\n"
    now = body(changed(text, {"decides": word}))
    assert {name: now[name] for name in ("reviewer", "reviewerGroup", "reviewPolicy") if name in now} == keys
    assert values_of(now)["decides"] == word


def test_a_criterion_that_moves_takes_its_evidence_along() -> None:
    text = changed(GOOD, {"acceptance-2-text": "Second", "acceptance-3-text": "Third"})
    text, field = edited(text, "acceptance:down:1")
    assert field == "acceptance-2-text"
    assert [row["text"] for row in body(text)["acceptance"]] == ["Second", "5 March 2026", "Third"]
    assert body(text)["evidence"][0]["criteria"] == [2]
    text, _ = edited(text, "acceptance:up:2")
    assert body(text)["evidence"][0]["criteria"] == [1]
    text, field = edited(text, "acceptance:remove:1")
    assert field == "acceptance-1-text"
    assert "criteria" not in body(text)["evidence"][0]


def test_a_list_whose_last_entry_is_removed_is_empty() -> None:
    text, field = edited(GOOD, "evidence:remove:1")
    assert (field, body(text)["evidence"]) == ("", [])


@pytest.mark.parametrize(
    "edit",
    [
        "acceptance:add",
        "acceptance:up:2",
        "acceptance:remove:2",
        "acceptance:remove:1",
        "prove:file:1",
        "evidence:add",
        "evidence:remove:1",
    ],
)
def test_the_notes_between_two_lists_stay_between_them(edit: str) -> None:
    text = (
        "acceptance:\n  - text: a # first\n  - text: b # second\n# About evidence.\n#\n# More.\n"
        "evidence:\n  - kind: command\n    widths: [1, 2]\n# About effects.\neffects: []\n"
    )
    now = edited(text, edit)[0]
    assert "# About evidence.\n#\n# More.\nevidence:" in now
    assert "# About effects.\neffects: []" in now
    assert ("# second" in now) is (edit != "acceptance:remove:2")
    assert ("# first" in now) is (edit != "acceptance:remove:1")


@pytest.mark.parametrize(
    "edit", ["acceptance:up:1", "acceptance:down:1", "acceptance:remove:9", "evidence:up:0"]
)
def test_a_press_that_moves_nothing_changes_nothing(edit: str) -> None:
    assert body(edited(GOOD, edit)[0]) == body(GOOD)


@pytest.mark.parametrize("edit", ["", "nonsense", "title:add", "prove:magic:1", "scope:else:x"])
def test_what_is_no_button_changes_no_byte(edit: str) -> None:
    assert edited(GOOD, edit) == (GOOD, "")


@pytest.mark.parametrize(("how", "key"), [("command", "run"), ("screenshot", "page"), ("file", "path")])
def test_asking_for_a_proof_adds_the_evidence_for_that_criterion(how: str, key: str) -> None:
    text, field = edited(GOOD, f"prove:{how}:1")
    added = body(text)["evidence"][1]
    assert (field, added["kind"], added[key], added["criteria"]) == (f"evidence-2-{key}", how, "", [1])


def test_a_found_file_is_added_to_the_scope_once() -> None:
    text, field = edited(GOOD, "scope:files:app/a:b.py")
    text, _ = edited(text, "scope:files:app/a:b.py")
    assert (field, body(text)["scope"]["files"]) == ("files", ["app/a:b.py"])


def test_another_kind_of_look_up_drops_the_fields_of_the_first() -> None:
    text, _ = edited(GOOD, "effects:add")
    text = changed(text, {"effects-1-lookup.kind": "http", "effects-1-lookup.url": "https://x/{effectId}"})
    text = changed(text, {"effects-1-lookup.kind": "git-ref", "effects-1-lookup.ref": "refs/x/{effectId}"})
    assert body(text)["effects"][0]["lookup"] == {"kind": "git-ref", "ref": "refs/x/{effectId}"}


def test_a_list_that_is_written_as_something_else_is_not_written_over() -> None:
    for text, change in (
        (
            GOOD.replace("acceptance:\n  - text: 5 March 2026\n    proof: the tests\n", "acceptance: all\n"),
            "acceptance-1-text",
        ),
        ("scope: all\n", "files"),
    ):
        with pytest.raises(Unreadable):
            changed(text, {change: "x"})
    with pytest.raises(Unreadable):
        edited("acceptance: all\n", "acceptance:add")


def test_a_form_begins_a_text_that_is_empty() -> None:
    assert body(changed("", {"title": "New", "acceptance-1-text": "It holds"})) == {
        "title": "New",
        "acceptance": [{"text": "It holds"}],
    }


def test_every_field_of_the_form_has_a_place_and_no_other_name_has_one() -> None:
    names = [*SINGLE, *(f"{rows}-7-{column}" for rows, columns in ROWS.items() for column in columns)]
    assert all(place_of(name) for name in names)
    for name in (
        "csrfmiddlewaretoken",
        "acceptance-0-text",
        "acceptance-1-nonsense",
        "acceptance-1",
        "nodes-1-text",
    ):
        assert place_of(name) is None


@pytest.mark.parametrize(
    "odd",
    [
        "acceptance: 3\nscope: [a]\naccess: {a: b}\n",
        "acceptance: [1, [2], {text: {a: b}}]\nttl: [1]\ntitle: true\n",
    ],
)
def test_a_text_of_wrong_shapes_is_drawn_all_the_same(odd: str) -> None:
    values = values_of(body(odd))
    assert all(isinstance(value, str) for value in values.values())
    rows_of(values, "acceptance")


def test_the_proofs_that_are_asked_for_by_a_button_are_evidence() -> None:
    kinds = {proof["kind"] for proof in sources.PROOFS.values()}
    assert kinds == {"command", "screenshot", "file"}
