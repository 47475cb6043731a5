"""One table says how each reason is answered; it leaves no reason out."""

from __future__ import annotations

import pytest

from claims.lifecycle import EDGES
from claims.outcomes import RULES, Refused, Retry, Why
from claims.vocabulary import FINAL, State, Verb


def test_every_reason_has_its_rule_and_every_rule_its_reason() -> None:
    assert set(RULES) == set(Why)


@pytest.mark.parametrize("why", list(Why))
def test_a_rule_is_one_plain_sentence_with_a_4xx_or_503(why: Why) -> None:
    rule = RULES[why]
    assert 400 <= rule.status < 500 or rule.status == 503
    assert rule.sentence.endswith(".")
    assert rule.sentence[0].isupper()
    assert (rule.status == 503) <= (rule.retry is Retry.SAME_KEY)


@pytest.mark.parametrize(
    ("status", "codes"),
    [
        (400, {Why.MALFORMED}),
        (401, {Why.UNAUTHENTICATED}),
        (403, {Why.FORBIDDEN, Why.NOT_REVIEWER, Why.SELF_REVIEW}),
        (404, {Why.NOT_FOUND}),
        (412, {Why.PRECONDITION_FAILED}),
        (413, {Why.TOO_LARGE}),
        (415, {Why.UNSUPPORTED_MEDIA}),
        (422, {Why.UNPROCESSABLE, Why.KEY_REUSED, Why.THIN_EVIDENCE, Why.CRITERIA_UNMET, Why.SLOT_MISMATCH}),
        (426, {Why.UPGRADE_REQUIRED}),
        (429, {Why.RATE_LIMITED}),
        (503, {Why.BUSY, Why.OUTCOME_UNKNOWN}),
    ],
)
def test_each_status_has_exactly_its_codes(status: int, codes: set[Why]) -> None:
    assert {why for why in Why if RULES[why].status == status} == codes


def test_everything_else_says_that_the_world_moved() -> None:
    rest = {why for why in Why if RULES[why].status == 409}
    assert {
        Why.FENCED,
        Why.CANCELLED,
        Why.STALE_INPUT,
        Why.NOT_CLAIMABLE,
        Why.ALREADY_DECIDED,
        Why.SCOPE_VIOLATION,
    } <= rest


def test_a_refusal_without_words_of_its_own_says_the_rules_sentence() -> None:
    assert Refused(Why.FENCED).sentence == RULES[Why.FENCED].sentence
    assert Refused(Why.FENCED, "Other words.").sentence == "Other words."


def test_every_edge_out_of_claimed_or_delivered_but_deliver_raises_the_generation() -> None:
    for edge in EDGES:
        if edge.source in (State.CLAIMED, State.DELIVERED):
            stays = edge.source is edge.target and not edge.grants
            assert edge.raises is not (stays or edge.verb is Verb.DELIVER), edge
        assert not edge.grants or (edge.raises and edge.target is State.CLAIMED), edge


def test_no_edge_leaves_a_final_state_and_none_is_written_twice() -> None:
    steps = [(edge.source, edge.verb, edge.target) for edge in EDGES]
    assert len(steps) == len(set(steps))
    left = {
        (edge.source, edge.target)
        for edge in EDGES
        if edge.source in FINAL and edge.source is not edge.target
    }
    assert left == {(State.CANCELLED, State.SUPERSEDED)}


CONTRACT = {
    ("BLOCKED", "OPEN"): {"open"},
    ("OPEN", "CLAIMED"): {"claim", "claim-next", "reassign", "adopt"},
    ("CLAIMED", "OPEN"): {"release", "fail", "release-quiet", "lapse"},
    ("CLAIMED", "CLAIMED"): {"claim", "reassign"},
    ("CLAIMED", "DELIVERED"): {"deliver"},
    ("CLAIMED", "DONE"): {"commit"},
    ("CLAIMED", "HELD"): {"fail", "release", "release-quiet", "lapse", "disable-agent", "outdate"},
    ("DELIVERED", "DONE"): {"accept"},
    ("DELIVERED", "CLAIMED"): {"request-changes", "adopt"},
    ("DELIVERED", "OPEN"): {"reject", "request-changes"},
    ("DELIVERED", "HELD"): {"reject", "request-changes", "outdate"},
    ("HELD", "OPEN"): {"requeue"},
    ("HELD", "CLAIMED"): {"adopt"},
    ("OPEN", "HELD"): {"outdate"},
    ("HELD", "HELD"): {"outdate"},
    ("HELD", "SUPERSEDED"): {"revise", "requeue"},
    ("CANCELLED", "SUPERSEDED"): {"revise"},
    **{(state, "CANCELLED"): {"cancel"} for state in ("BLOCKED", "OPEN", "CLAIMED", "DELIVERED", "HELD")},
    **{(state, "SUPERSEDED"): {"revise"} for state in ("BLOCKED", "OPEN", "CLAIMED", "DELIVERED")},
}
"""The edges of claim.v1 section 2 that these verbs take, read off the contract by hand."""


def test_the_edges_between_states_are_those_of_the_contract() -> None:
    found: dict[tuple[str, str], set[str]] = {}
    for edge in EDGES:
        if edge.source is not None and (edge.source is not edge.target or edge.raises):
            found.setdefault((edge.source.value, edge.target.value), set()).add(edge.verb.value)
    assert found == CONTRACT
