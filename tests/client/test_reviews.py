"""What a reviewer said reaches the agent's code with types, place by place."""

from __future__ import annotations

from claims import transitions
from claims.decide import Judgement, VerdictGiven
from claims.vocabulary import Verdict
from client import Client, Comment, Review
from tests.support.world import World

SENT = [
    {"path": "page.html", "line": 2, "text": "Say it louder."},
    {"command": "tests", "stream": "output", "line": 3, "text": "Why is it skipped?"},
    {"screenshot": "home-390", "x": 512, "y": 233, "text": "Too close."},
    {"path": "", "line": None, "text": "Well done otherwise."},
]


def test_the_grant_of_the_next_round_carries_the_review(world: World, client_of_agent: Client) -> None:
    delivery = world.delivered(world.agents[0])
    judged = Judgement(
        delivery.subject_digest, {1: VerdictGiven(Verdict.MET), 2: VerdictGiven(Verdict.NOT_MET, "It moved.")}
    )
    transitions.request_changes(world.person(world.reviewer), delivery.id, judged, SENT)

    (grant,) = client_of_agent.mine()

    review = grant.review
    assert review is not None
    assert (review.round, review.decision, review.verdicts[1].note) == (1, "CHANGES_REQUESTED", "It moved.")
    assert [comment.place for comment in review.comments] == [
        "page.html:2",
        "output of tests, line 3",
        "home-390 at 51.2% across, 23.3% down",
        "",
    ]
    assert review.comments[2] == Comment("Too close.", screenshot="home-390", x=512, y=233)


def test_a_field_of_a_newer_server_is_left_out() -> None:
    body = {"round": 1, "decision": "REJECTED", "attemptId": "a", "comments": [{"text": "t", "voice": "w"}]}
    assert Review.parse(body).comments == [Comment("t")]
