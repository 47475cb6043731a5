"""The negative test: runners that die and freeze over an outside call, and a sink that counts.

Real processes: the API, the sink, and each runner with the client. A runner is killed, or frozen, at a
random moment of its work; another one takes the task over with a payload of its own. Whatever happens,
the sink sees one call for an effect, and a task has one canonical commit.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection, connections

from claims import transitions
from claims.models import CanonicalCommit, Effect, Observation, Task
from claims.outcomes import Cancelled, EpochRaised, Left
from claims.vocabulary import EffectMode, EffectState, Said, State
from tests.support.effects import revised
from tests.support.serving import environment, serving
from tests.support.sink import Sink, sinking
from tests.support.trials import Running, Trial, X, Y
from tests.support.world import World, a_world

pytestmark = pytest.mark.django_db(transaction=True)

IS_LONG = bool(os.environ.get("FENCEPOST_LONG"))
POINTS = 1_000 if IS_LONG else 40
MOST_SECONDS = 7_200.0 if IS_LONG else 60.0
"""No point is begun after that; a slow machine tries fewer of them, and never fewer than ``FEWEST_POINTS``."""
FEWEST_POINTS = POINTS if IS_LONG else 8
AT_ONCE = 8
SEED = int(os.environ.get("FENCEPOST_SEED", "8730"))
STEPS = (
    "started", "claimed", "prepared", "executing", "permitted", "checked", "called", "told", "settled",
)  # fmt: skip
ANSWERS = ("at-once", "at-once", "late", "error", "cut", "lost")
MOST_DELAY_SECONDS = 0.03
MARGIN_SECONDS = 2.0
"""How long before the end of the settle time a frozen runner goes on at the latest."""


@pytest.fixture(scope="module")
def api(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    with django_db_blocker.unblock():
        variables = environment()
    with serving(variables) as url:
        yield url


@pytest.fixture(scope="module")
def sink(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sink]:
    with sinking(tmp_path_factory.mktemp("sink")) as running:
        yield running


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    yield a_world(allows_unreviewed=True)
    connections.close_all()


@pytest.fixture
def trial(world: World, sink: Sink, api: str) -> Iterator[Trial]:
    made = Trial(world, sink, api)
    yield made
    made.end()


def test_an_answer_is_lost_and_the_next_runner_with_another_payload_sends_nothing(trial: Trial) -> None:
    """A sends X and dies without the answer; B wants Y, is told of X, looks X up, and one call was made."""
    first = trial.start(trial.world.agents[0], X, answers="cut", stop_at="called")
    trial.follow(first, until=lambda word: word["step"] == "called")
    first.send(signal.SIGKILL)
    trial.take_over(trial.world.agents[1], Y)
    second = trial.runners[-1]
    assert second.word("conflict")["payload"] == X
    assert second.word("reconciled")["said"] == Said.HAPPENED
    assert "permitted" not in second.steps
    trial.check()
    effect = Effect.objects.get(task_id=trial.task_id)
    assert (effect.payload, effect.state) == (X, EffectState.COMMITTED)
    assert [call["payload"] for call in trial.sink.calls(effect.id)] == [X]
    assert Task.objects.get(id=trial.task_id).state == State.DONE


def frozen(trial: Trial, step: str, **orders: Any) -> Running:
    """The first agent's runner, frozen right after a step."""
    runner = trial.start(trial.world.agents[0], X, stop_at=step, **orders)
    trial.follow(runner, until=lambda word: word["step"] == step)
    assert runner.steps[-1] == step, runner.told
    return runner


def thawed(trial: Trial, runner: Running) -> Running:
    """The same, gone on to its end."""
    runner.send(signal.SIGCONT)
    trial.follow_to_the_end(runner)
    return runner


def test_a_stale_owner_that_resumes_sends_nothing_and_commits_nothing(trial: Trial) -> None:
    stale = frozen(trial, "permitted")
    trial.take_over(trial.world.agents[1], Y)
    assert thawed(trial, stale).steps.count("checked") == 0
    assert stale.word("too-late")["verb"] == "unknown"
    trial.check()
    assert len(trial.sink.calls(Effect.objects.get(task_id=trial.task_id).id)) == 1
    commit = CanonicalCommit.objects.get(task_id=trial.task_id)
    assert str(commit.attempt_id) == trial.runners[-1].word("claimed")["fence"]["attemptId"]


def test_what_a_stale_owner_says_of_its_call_is_kept_and_moves_nothing(trial: Trial) -> None:
    stale = frozen(trial, "called")
    trial.take_over(trial.world.agents[1], Y)
    assert thawed(trial, stale).word("too-late")["verb"] == "confirm"
    assert stale.word("refused")["code"] == "FENCED"
    trial.check()
    said = Observation.objects.filter(task_id=trial.task_id, via="CONFIRM").values_list("said", "is_applied")
    assert list(said) == [(Said.HAPPENED, False)]


def test_a_changed_input_leaves_the_old_runner_nothing_and_the_new_one_its_doubt(trial: Trial) -> None:
    old = frozen(trial, "permitted")
    newer = revised(trial.world, trial.task_id, trial.specification(task="Say it louder"))
    second = trial.start(trial.world.agents[1], Y, task_id=newer)
    trial.follow_to_the_end(second)
    assert second.word("refused")["code"] == "MUST_RECONCILE"
    threading.Event().wait(trial.permit_seconds)
    assert thawed(trial, old).word("refused")["code"] == "STALE_INPUT"
    effect = Effect.objects.get(task_id=trial.task_id)
    assert trial.sink.calls(effect.id) == []
    while effect.state == EffectState.UNKNOWN:
        trial.reconcile(effect.id)
        effect.refresh_from_db()
    trial.task_id = newer
    trial.take_over(trial.world.agents[1], Y)
    trial.check()
    commits = CanonicalCommit.objects.filter(task__lineage_id=Task.objects.get(id=newer).lineage_id)
    assert commits.count() == 1


def test_after_a_cancellation_a_runner_with_a_permit_sends_nothing_any_more(trial: Trial) -> None:
    runner = frozen(trial, "permitted")
    cancelled = transitions.cancel(
        trial.world.person(trial.world.preparer), trial.task_id, "not wanted any more"
    )
    assert isinstance(cancelled, Cancelled)
    threading.Event().wait(trial.permit_seconds)
    assert thawed(trial, runner).word("refused")["code"] == "CANCELLED"
    trial.check()
    assert trial.sink.calls(Effect.objects.get(task_id=trial.task_id).id) == []
    assert not CanonicalCommit.objects.filter(task_id=trial.task_id).exists()


def test_a_raised_epoch_ends_the_claim_and_the_call_that_was_made_counts_once(trial: Trial) -> None:
    runner, world = frozen(trial, "called"), trial.world
    raised = transitions.raise_epoch(
        world.person(world.operator), world.pool.name, world.epoch, "a backup was restored"
    )
    assert isinstance(raised, EpochRaised)
    assert thawed(trial, runner).word("refused")["code"] == "FENCED"
    trial.take_over(world.agents[1], Y)
    assert trial.runners[-1].word("conflict")["payload"] == X
    trial.check()
    commit = CanonicalCommit.objects.get(task_id=trial.task_id)
    assert commit.scheduler_epoch == raised.scheduler_epoch


def test_the_generation_rose_and_the_same_agent_goes_on_in_another_attempt(trial: Trial) -> None:
    runner, world = frozen(trial, "checked"), trial.world
    sighting = world.sighting(trial.task_id, even_if_live=True)
    assert isinstance(transitions.release_quiet(world.person(world.operator), trial.task_id, sighting), Left)
    runner.send(signal.SIGCONT)
    trial.take_over(world.agents[0], Y, runner)
    trial.follow_to_the_end(runner)
    assert runner.word("too-late")["verb"] == "confirm"
    assert runner.word("refused")["code"] == "FENCED"
    trial.check()
    assert CanonicalCommit.objects.filter(task_id=trial.task_id).count() == 1


@dataclass(frozen=True)
class Fate:
    """What befalls a runner: at which step, how long after it, and whether it is killed or frozen."""

    step: str
    delay_seconds: float
    is_killed: bool
    thaws_after_seconds: float
    answers: str

    @classmethod
    def of(cls, chance: random.Random, trial: Trial) -> Fate:
        """One at random. A frozen runner may have been about to send, so it goes on within the settle time."""
        end = trial.permit_seconds + trial.settle_seconds - MARGIN_SECONDS
        return cls(
            chance.choice(STEPS),
            chance.uniform(0, MOST_DELAY_SECONDS),
            chance.random() < 0.6,
            chance.uniform(0, end),
            chance.choice(ANSWERS),
        )


def tried(world: World, sink: Sink, api: str, number: int) -> Counter[str]:
    """One task, one random point; what was seen on the way."""
    chance = random.Random(f"{SEED}/{number}")
    mode = EffectMode.NON_REPLAYABLE if chance.random() < 0.3 else EffectMode.QUERYABLE
    trial = Trial(world, sink, api, mode, permit_seconds=chance.choice([1, 2]))
    fate = Fate.of(chance, trial)
    try:
        befall(trial, fate)
        trial.check()
        assert Task.objects.get(id=trial.task_id).state == State.DONE
    except AssertionError as error:
        error.add_note(f"FENCEPOST_SEED={SEED}, point {number}: {fate}")
        raise
    finally:
        trial.end()
        connection.close()
    trial.seen["killed" if fate.is_killed else "frozen"] += 1
    return trial.seen


def befall(trial: Trial, fate: Fate) -> None:
    """Start a runner, let its fate come over it, and let others finish."""
    runner = trial.start(trial.world.agents[0], X, answers=fate.answers)
    trial.follow(runner, until=lambda word: word["step"] == fate.step)
    threading.Event().wait(fate.delay_seconds)
    if fate.is_killed:
        runner.send(signal.SIGKILL)
        trial.follow_to_the_end(runner)
        trial.take_over(trial.world.agents[1], Y)
        return
    runner.send(signal.SIGSTOP)
    thaw = threading.Timer(fate.thaws_after_seconds, runner.send, [signal.SIGCONT])
    thaw.start()
    try:
        trial.take_over(trial.world.agents[1], Y, runner)
    finally:
        thaw.join()
    trial.follow_to_the_end(runner)


def test_at_any_point_of_death_or_frost_the_sink_sees_each_effect_once(
    world: World, sink: Sink, api: str
) -> None:
    end, tried_points, seen = time.monotonic() + MOST_SECONDS, 0, Counter[str]()

    def one(number: int) -> Counter[str] | None:
        is_due = number < FEWEST_POINTS or time.monotonic() < end
        return tried(world, sink, api, number) if is_due else None

    with ThreadPoolExecutor(AT_ONCE) as threads:
        for each in threads.map(one, range(POINTS)):
            if each is not None:
                tried_points += 1
                seen += each
    for wanted in ("killed", "frozen", "conflict"):
        assert seen[wanted], f"{tried_points} points: {dict(seen)}"
    assert tried_points >= FEWEST_POINTS
    assert CanonicalCommit.objects.filter(task__pool=world.pool).count() == tried_points
