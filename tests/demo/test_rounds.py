"""A round that is sent back is done again, and each note of the reviewer is answered."""

from __future__ import annotations

from typing import Any

import pytest

from tests.demo.conftest import Demo, template


def review(
    verdicts: dict[int, tuple[str, str]], note: str = "", comments: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """A decision that sent round 1 back, as the grant of round 2 carries it."""
    given = [
        {"criterion": number, "verdict": verdict, "note": text}
        for number, (verdict, text) in verdicts.items()
    ]
    return {
        "round": 1,
        "decision": "CHANGES_REQUESTED",
        "note": note,
        "verdicts": given,
        "comments": comments or [],
    }


@pytest.mark.parametrize("name", ["currency-totals", "csv-header", "full-last-page"])
def test_the_careless_agent_leaves_out_the_last_criterion_and_does_it_in_round_2(
    demo: Demo, name: str
) -> None:
    last = len(template(name)["acceptance"])
    first = demo.run("careless", template(name))
    assert first.exit_code == 0, first.output
    assert str(last) in first.body["claims"]
    before = first.diff()

    note = "I do not see this one anywhere."
    second = demo.run(
        "careless", template(name), workspace=first.workspace, review=review({last: ("NOT_MET", note)})
    )
    assert second.exit_code == 0, second.output
    assert len(second.diff().splitlines()) > len(before.splitlines())
    assert f"“{note}” → Criterion {last}: " in second.body["summary"]
    if name != "full-last-page":  # another repair may be as good as the one found from the start
        assert second.changed() == demo.run("careful", template(name)).changed()
        assert second.diff() == demo.run("careful", template(name)).diff()


@pytest.mark.browser
def test_the_careless_agent_forgets_the_state_of_the_widest_screenshot_once(demo: Demo) -> None:
    body = template("empty-state")
    first = demo.run("careless", body, chromium=True)
    assert first.item("billing-empty-390")["meta"]["page"] == "/billing?customer=new"
    assert first.item("billing-empty-1280")["meta"] == {"page": "/billing", "width": 1280}

    sent_back = review(
        {1: ("CANNOT_TELL", "The wide screenshot shows another customer."), 4: ("NOT_MET", "Not there.")}
    )
    second = demo.run("careless", body, workspace=first.workspace, review=sent_back, chromium=True)
    assert second.item("billing-empty-1280")["meta"]["page"] == "/billing?customer=new"
    assert "No invoice matches this filter." in second.diff()
    assert "Round 2 answers 2 notes." in second.body["summary"]


def test_copy_that_a_note_quotes_replaces_the_criterion_s(demo: Demo) -> None:
    body = template("empty-state")
    first = demo.run("careful", body)
    sent_back = review({1: ("NOT_MET", "Please say “No invoices so far” instead of “No invoices yet”.")})
    second = demo.run("careful", body, workspace=first.workspace, review=sent_back)
    assert second.exit_code == 0, second.output
    assert "No invoices so far" in second.diff()
    assert "No invoices yet" not in second.diff()
    assert "“No invoices so far” now stands where “No invoices yet” stood." in second.body["summary"]


def test_one_quoted_text_replaces_the_most_similar_copy(demo: Demo) -> None:
    body = template("empty-state")
    first = demo.run("careful", body)
    sent_back = review({}, note='I would write "Your first invoice appears here when your plan renews."')
    second = demo.run("careful", body, workspace=first.workspace, review=sent_back)
    assert '<p class="muted">Your first invoice appears here when your plan renews.</p>' in second.diff()
    assert "on the day your plan renews" not in second.diff()


def test_a_contrast_that_a_note_names_is_reached(demo: Demo) -> None:
    body = template("dark-contrast")
    first = demo.run("careful", body)
    sent_back = review({2: ("NOT_MET", "This is small text: please go to 7:1.")})
    second = demo.run("careful", body, workspace=first.workspace, review=sent_back)
    assert second.exit_code == 0, second.output
    assert 'contrast("dark", "--muted", "--surface"), 7)' in second.diff()


def test_a_length_that_a_note_names_is_exchanged(demo: Demo) -> None:
    body = template("filter-focus")
    first = demo.run("careful", body)
    sent_back = review({2: ("NOT_MET", "Hard to see: 4px instead of 3px, please.")})
    second = demo.run("careful", body, workspace=first.workspace, review=sent_back)
    assert second.exit_code == 0, second.output
    assert "outline: 4px solid var(--focus)" in second.diff()
    assert "outline: 3px" not in second.diff()


@pytest.mark.browser
def test_a_note_that_asks_for_another_picture_gets_it(demo: Demo) -> None:
    body = template("not-found")
    first = demo.run("careful", body)
    sent_back = review(
        {1: ("CANNOT_TELL", "How does it look at 768 px?")}, note="And is it fine in dark mode?"
    )
    second = demo.run("careful", body, workspace=first.workspace, review=sent_back, chromium=True)
    assert "“How does it look at 768 px?” → see not-found-768." in second.body["summary"]
    assert second.item("not-found-768")["meta"] == {"page": "/invoices/TW-9999", "width": 768}
    assert second.item("not-found-dark-390")["meta"]["page"] == "/invoices/TW-9999?theme=dark"


def test_a_criterion_that_was_done_is_not_said_to_be_changed(demo: Demo) -> None:
    body = template("plain-names")
    first = demo.run("careful", body)
    sent_back = review({2: ("NOT_MET", "Are you sure?")})
    second = demo.run("careful", body, workspace=first.workspace, review=sent_back)
    assert (
        "“Are you sure?” → I found nothing more to change. Criterion 2: A search of" in second.body["summary"]
    )


def test_a_note_that_asks_for_nothing_in_particular_is_not_said_to_be_done(demo: Demo) -> None:
    body = template("plain-names")
    first = demo.run("careful", body)
    comment = {"path": "app/store.py", "line": 74, "text": "Hm, I am not sure about this."}
    second = demo.run("careful", body, workspace=first.workspace, review=review({}, comments=[comment]))
    assert "“Hm, I am not sure about this.” → I found nothing in it that I can do" in second.body["summary"]
    assert second.diff() == first.diff()


@pytest.mark.parametrize("name", ["empty-state", "csv-header", "not-found", "settings-labels"])
def test_doing_a_task_twice_changes_nothing_more(demo: Demo, name: str) -> None:
    first = demo.run("careful", template(name))
    before = first.diff()
    again = demo.run("careful", template(name), workspace=first.workspace)
    assert again.exit_code == 0, again.output
    assert again.diff() == before
