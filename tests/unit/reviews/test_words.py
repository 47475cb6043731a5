"""How durations, counts and digests are said, the same on the server and in the browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from claims.lifecycle import EDGES
from claims.vocabulary import State
from reviews.shell import words
from reviews.taskpage import telling

NB = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, f"0{NB}s"),
        (45, f"45{NB}s"),
        (660, f"11{NB}min"),
        (11_520, f"3{NB}h 12{NB}min"),
        (7_200, f"2{NB}h"),
        (50_700, f"14{NB}h"),
        (86_400, f"1{NB}day"),
        (200_000, f"2{NB}days"),
    ],
)
def test_a_duration_is_said_in_at_most_two_units(seconds: int, said: str) -> None:
    assert words.span(seconds) == said


def test_a_count_beyond_the_limit_says_that_it_is_one() -> None:
    assert words.bounded(words.COUNT_LIMIT) == "10,000"
    assert words.bounded(words.COUNT_LIMIT + 1) == "10,000+"


def test_a_digest_is_shown_by_its_first_and_last_four_characters() -> None:
    assert words.short_digest("sha256:" + "a07f" + "0" * 56 + "66b2") == "sha256:a07f…66b2"


def test_initials_of_one_word_are_its_first_two_letters() -> None:
    assert words.initials("ines") == "IN"
    assert words.initials("Ines Maria Halvorsen") == "IH"


def test_every_state_has_a_sign_a_word_and_an_icon_that_exists() -> None:
    sprite = (Path(__file__).parents[3] / "templates" / "_icons.html").read_text()
    for state in (*State, "QUIET", "CHANGES", "FENCED"):
        sign = words.SIGNS[str(state)]
        assert sign.word
        assert f'id="i-{sign.icon}"' in sprite


def test_every_verb_of_an_edge_has_its_sentence_in_the_timeline() -> None:
    assert {edge.verb for edge in EDGES} <= set(telling.SENTENCES)


def test_a_claim_is_quiet_before_it_is_anything_else() -> None:
    assert words.seen_state("CLAIMED", quiet=True, sent_back=True) == "QUIET"
    assert words.seen_state("CLAIMED", sent_back=True) == "CHANGES"
    assert words.seen_state("DELIVERED", quiet=True) == "DELIVERED"


def test_script_says_durations_with_the_same_units() -> None:
    script = (Path(__file__).parents[3] / "static" / "js" / "times.js").read_text()
    assert set(re.findall(r'unit\([^,]+(?:% 60)?, "(\w+)"\)', script)) == {"s", "min", "h"}
    assert 'days === 1 ? "day" : "days"' in script
