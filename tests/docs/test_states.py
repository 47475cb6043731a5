"""docs/reference/states.md and the edges of the code are the same."""

from __future__ import annotations

from pathlib import Path

from claims.lifecycle import EDGES
from claims.management.commands.state_diagram import MEANING, states_page
from claims.vocabulary import State, Verb

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "states.md"


def test_the_page_of_states_is_what_the_code_draws() -> None:
    assert PAGE.read_text(encoding="utf-8") == states_page()


def test_every_edge_but_adjust_is_on_the_page() -> None:
    page = states_page()

    for edge in EDGES:
        if edge.verb is not Verb.ADJUST:
            assert f"| {edge.source or 'new'} | `{edge.verb}` | {edge.target} |" in page


def test_every_state_has_a_meaning() -> None:
    assert set(MEANING) == set(State)


def test_a_state_said_not_to_be_reached_has_no_edge_to_it() -> None:
    said = {state for state, meaning in MEANING.items() if meaning.endswith("Not reached yet.")}
    # adjust leads from a state to itself, and so reaches nothing.
    reached = {edge.target for edge in EDGES if edge.source is not edge.target}

    assert said == set(State) - reached
