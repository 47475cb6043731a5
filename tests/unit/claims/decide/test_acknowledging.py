"""Of an earlier revision's effect a preparer says once for each revision whether it counts (claim.v1 section 5)."""

from __future__ import annotations

from dataclasses import replace

from claims import decide
from claims.decide.rows import PersonRow, TaskAsRead
from claims.outcomes import Refused, Why
from claims.rights import expand
from claims.vocabulary import Right, Verb
from tests.support.effect_rows import EARLIER_EFFECT, earlier, with_effects
from tests.support.rows import a_done_task, an_open_task

PREPARER = PersonRow(61, expand([Right.PREPARER]))


def acknowledged(seen: TaskAsRead) -> decide.Change | Refused:
    return decide.acknowledge(
        replace(seen, person=PREPARER), EARLIER_EFFECT, counts=True, reason="it arrived"
    )


def why(answer: decide.Change | Refused) -> Why:
    assert isinstance(answer, Refused), answer
    return answer.why


def test_what_nobody_has_spoken_of_is_acknowledged() -> None:
    answer = acknowledged(with_effects(earlier(), seen=an_open_task()))
    assert isinstance(answer, decide.Change)
    assert answer.verb is Verb.ACKNOWLEDGE


def test_what_was_acknowledged_is_not_acknowledged_again_either_way() -> None:
    for counts in (True, False):
        assert why(acknowledged(with_effects(earlier(counts=counts), seen=an_open_task()))) is Why.STALE_STATE


def test_of_a_final_task_nothing_is_acknowledged() -> None:
    assert why(acknowledged(with_effects(earlier(), seen=a_done_task()))) is Why.STALE_STATE
