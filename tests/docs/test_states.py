"""docs/reference/states.md and the edges of the code are the same."""

from __future__ import annotations

from pathlib import Path

from claims.lifecycle import EDGES, EFFECT_EDGES
from claims.management.commands.state_diagram import (
    EFFECT_MEANING,
    MEANING,
    is_a_stay,
    is_an_observation,
    states_page,
)
from claims.vocabulary import EffectState, State

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "states.md"


def test_the_page_of_states_is_what_the_code_draws() -> None:
    assert PAGE.read_text(encoding="utf-8") == states_page()


def test_every_edge_that_moves_something_is_a_row_and_every_other_is_in_the_list_of_its_verb() -> None:
    page = states_page()

    for edge in EDGES:
        if is_a_stay(edge):
            row = next(line for line in page.splitlines() if line.startswith(f"| `{edge.verb}` | "))
            assert str(edge.source) in row
        else:
            assert f"| {edge.source or 'new'} | `{edge.verb}` | {edge.target} |" in page


def test_every_step_of_an_effect_but_an_observation_is_on_the_page() -> None:
    page = states_page()

    for edge in EFFECT_EDGES:
        row = f"| {edge.source or 'new'} | `{edge.verb}` | {edge.target} |"
        assert (row in page) is not is_an_observation(edge)


def test_every_state_has_a_meaning_and_an_edge_that_leads_to_it() -> None:
    assert set(MEANING) == {edge.target for edge in EDGES} == set(State)
    assert set(EFFECT_MEANING) == {edge.target for edge in EFFECT_EDGES} == set(EffectState)
