"""Random schedules of all verbs, by everybody, with clocks and crashes: model and database agree.

5,000 steps in every run, 100,000 with ``FENCEPOST_LONG=1``. In CI the schedules are always the same;
elsewhere ``FENCEPOST_SEED`` repeats those of a run that failed.
"""

from __future__ import annotations

import os
import random
import sys

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.stateful.machine import Schedule, answered
from tests.stateful.model import VERBS
from tests.stateful.wire import wired

SHARDS = 2
"""As many as processes that run tests side by side."""

STEPS_A_SCHEDULE = 100
STEPS = (100_000 if os.environ.get("FENCEPOST_LONG") else 5_000) // SHARDS
SEED = int(os.environ.get("FENCEPOST_SEED") or (1 if os.environ.get("CI") else random.randrange(2**32)))

SETTINGS = settings(
    max_examples=STEPS // (STEPS_A_SCHEDULE - 5) + 2,  # in some steps there is nothing to do
    stateful_step_count=STEPS_A_SCHEDULE,
    phases=[Phase.generate, Phase.shrink],
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_answers_and_tables_are_those_of_the_model_after_every_step(shard: int) -> None:
    sys.stdout.write(f"FENCEPOST_SEED={SEED} repeats these schedules\n")
    answered.clear()
    with wired() as wire:
        schedules = seed(SEED + shard)(type("Schedules", (Schedule,), {"wire": wire}))
        run_state_machine_as_test(schedules, settings=SETTINGS)
    sys.stdout.write(f"{answered.total()} steps: {dict(sorted(answered.items()))}\n")
    assert answered.total() >= STEPS
    tried = {name.split(":")[0] for name in answered}
    assert set(VERBS) <= tried, f"never tried: {sorted(set(VERBS) - tried)}"
    assert any(name.startswith("cut after 1") for name in answered), "no COMMIT lost its answer"
