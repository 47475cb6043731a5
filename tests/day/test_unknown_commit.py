"""B38, B39, B28: what became of a change is looked up or left open, never guessed.

A link to PostgreSQL is cut while COMMIT is on its way; a commit's wait for its standby is cancelled; the web
process is killed at each of its statements. Whatever is answered is true, and the same key gives the truth.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.db import connection, connections

from claims import tokens
from claims.models import Attempt, Permit, Task
from claims.outcomes import Refused, Why
from tests.support.acts import (
    ACTS,
    UNREVIEWED,
    Act,
    accept,
    claim,
    claim_next,
    commit,
    commit_without_a_key,
    raise_epoch,
    rows,
)
from tests.support.effects import PAYLOAD, a_key, permitted, prepared, with_effect, with_slots
from tests.support.lone import Lone, lone_postgres
from tests.support.mortal import Mortal, mortal
from tests.support.proxy import Cut, Proxy, proxied, through
from tests.support.serving import environment, serving
from tests.support.world import World, a_world

IS_LONG = bool(os.environ.get("FENCEPOST_LONG"))
ROUNDS = 200 if IS_LONG else 2
KILLED_AT = (
    "claim",
    "deliver",
    "execute",
    *(("claim-next", "release", "effects", "confirm") if IS_LONG else ()),
)
REQUEST_LIMIT_SECONDS = 10.0
"""Longer than the longest a statement, a lock and an idle transaction may take in one request of the API."""

cut_off = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    yield a_world(allows_unreviewed=True)
    connections.close_all()


each_act = pytest.mark.parametrize("made", ACTS.values(), ids=ACTS)


def answered(proxy: Proxy, act: Act, *, arrives: bool, stays_down: bool = False) -> Any:
    """What a call is answered whose commit's own answer is lost."""
    cuts = proxy.cuts
    with through(proxy):
        connection.ensure_connection()
        proxy.arm(Cut(act.commits, arrives, stays_down))
        answer = act.call()
    assert proxy.cuts == cuts + 1, f"the link was not cut: {answer}"
    return answer


def check_asked_again(act: Act, first: Any) -> None:
    """The same key gives the true answer, and it has happened once."""
    again = act.call()
    if not act.replays:
        assert not isinstance(again, Refused) or again.why is Why.MUST_RECONCILE, again
    elif isinstance(first, Refused):
        assert not isinstance(again, Refused), again
    else:
        assert again == first
    assert act.happened() == 1


@cut_off
@each_act
def test_b38_pgjdbc_2197_a_commit_that_happened_is_never_answered_with_a_failure(
    world: World, made: Callable[[World], Act]
) -> None:
    with proxied() as proxy:
        for _ in range(ROUNDS):
            act = made(world)
            answer = answered(proxy, act, arrives=True)
            assert act.happened() == 1
            if not act.function:
                assert not isinstance(answer, Refused), "PostgreSQL knows that it was committed"
            else:
                assert answer.why is Why.OUTCOME_UNKNOWN
            check_asked_again(act, answer)


@cut_off
@each_act
def test_b38_pgjdbc_2197_a_commit_that_did_not_happen_is_never_answered_with_success(
    world: World, made: Callable[[World], Act]
) -> None:
    with proxied() as proxy:
        for _ in range(ROUNDS):
            act = made(world)
            answer = answered(proxy, act, arrives=False)
            if isinstance(answer, Refused):
                assert answer.why in (Why.OUTCOME_UNKNOWN, Why.BUSY)
                assert answer.rule.retry == "same_key"
                assert act.happened() == 0
            else:
                assert act.happened() == 1, "it was done again, once it was known that it had not happened"
            check_asked_again(act, answer)


@cut_off
@each_act
@pytest.mark.parametrize("arrives", [True, False], ids=["committed", "not committed"])
def test_b38_pgjdbc_2197_when_nobody_can_say_the_answer_is_that_nobody_can_say(
    world: World, made: Callable[[World], Act], arrives: bool
) -> None:
    with proxied() as proxy:
        act = made(world)
        answer = answered(proxy, act, arrives=arrives, stays_down=True)
        assert isinstance(answer, Refused)
        assert (answer.why, answer.rule.status, answer.rule.retry) == (Why.OUTCOME_UNKNOWN, 503, "same_key")
        assert act.happened() == int(arrives)
        check_asked_again(act, answer)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> Iterator[Lone]:
    with django_db_blocker.unblock(), lone_postgres(tmp_path_factory.mktemp("lone")) as running:
        yield running


@pytest.fixture
def lone(server: Lone, django_db_blocker: Any) -> Iterator[Lone]:
    """A PostgreSQL of the test's own, which Django uses meanwhile."""
    with django_db_blocker.unblock(), server.django_there():
        yield server


@pytest.mark.parametrize("how", ["cancel", "terminate"])
@pytest.mark.parametrize("made", [claim, claim_next, commit, commit_without_a_key, accept, raise_epoch])
def test_b39_patroni_1414_a_wait_for_the_standby_that_was_ended_is_no_success(
    lone: Lone, made: Callable[[World], Act], how: str
) -> None:
    act = made(a_world(allows_unreviewed=True))
    lone.wait_for_standby("nobody")
    try:
        for time_asked in ("first", "again", "and again"):
            answer = _while_it_waits(act, lone, how)
            assert isinstance(answer, Refused), f"{time_asked}: {answer}"
            assert answer.why is Why.OUTCOME_UNKNOWN, time_asked
    finally:
        lone.wait_for_standby("")
    assert not isinstance(act.call(), Refused)
    assert act.happened() == 1


def _while_it_waits(act: Act, lone: Lone, how: str) -> Any:
    """What a call is answered whose wait for the standby is ended."""

    def call() -> Any:
        try:
            return act.call()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(call)
        try:
            lone.end_wait(how)
            return running.result(60)
        finally:
            if not running.done():
                lone.wait_for_standby("")


@pytest.fixture(scope="module")
def proxy(django_db_setup: None) -> Iterator[Proxy]:
    with proxied() as running:
        yield running


@pytest.fixture(scope="module")
def victim(proxy: Proxy) -> Iterator[Mortal]:
    with mortal(environment(proxy.port)) as running:
        yield running


@pytest.fixture(scope="module")
def survivor(django_db_setup: None) -> Iterator[str]:
    with serving(environment()) as url:
        yield url


@dataclass(frozen=True)
class Call:
    """One POST of the API with its key; ``happened`` counts what it did."""

    path: str
    body: dict[str, Any]
    token: str
    happened: Callable[[], int]
    replays: bool = True

    def send(self, url: str, key: str) -> httpx.Response:
        """The answer; raises ``httpx.TransportError`` where there is none."""
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": key}
        return httpx.post(f"{url}/api/v1{self.path}", json=self.body, headers=headers, timeout=30)


def _token(world: World) -> str:
    return tokens.mint(agent_id=world.agents[0].id).token


def over_http(world: World, verb: str) -> Call:
    """The call of one verb, with everything that it needs made before."""
    token = _token(world)
    if verb in ("claim", "claim-next"):
        task_id = world.task()
        body = {"schedulerEpoch": world.epoch}
        attempts = Attempt.objects.filter(task_id=task_id)
        if verb == "claim-next":
            return Call(f"/pools/{world.pool.name}/claim-next", body, token, attempts.count)
        return Call(f"/tasks/{task_id}/claim", {**body, "expectedStateVersion": 1}, token, attempts.count)
    if verb in ("execute", "confirm"):
        return _of_effect(world, verb, token)
    granted = world.claimed(input=with_slots(evidence=[]) if verb == "effects" else UNREVIEWED["input"])
    more: dict[str, dict[str, Any]] = {
        "deliver": {"inputDigest": granted.input_digest, "result": {"n": 1}, "evidence": []},
        "release": {"reason": "no time"},
        "effects": {"slot": "mail", "payload": PAYLOAD},
    }
    body = {"fence": granted.fence.as_json(), **more[verb]}
    happened = rows(granted.fence.task_id, "prepare" if verb == "effects" else verb)
    return Call(f"/attempts/{granted.fence.attempt_id}/{verb}", body, token, happened)


def _of_effect(world: World, verb: str, token: str) -> Call:
    granted = with_effect(world)
    effect_id = prepared(world, granted)
    body: dict[str, Any] = {"fence": granted.fence.as_json()}
    if verb == "confirm":
        body["permitId"] = str(permitted(world, granted, effect_id).permit_id)
        return Call(f"/effects/{effect_id}/confirm", body, token, rows(granted.fence.task_id, "confirm"))
    permits = Permit.objects.filter(effect_id=effect_id)
    return Call(f"/effects/{effect_id}/execute", body, token, permits.count, replays=False)


@cut_off
@pytest.mark.parametrize("verb", KILLED_AT)
@pytest.mark.parametrize("arrives", [False, True], ids=["before it", "after it"])
def test_b28_actor_ts_984_the_web_process_is_killed_at_any_statement_and_the_key_is_not_stuck(
    world: World, proxy: Proxy, victim: Mortal, survivor: str, verb: str, arrives: bool
) -> None:
    statement = 0
    while True:
        statement += 1
        call, key, cuts = over_http(world, verb), a_key(), proxy.cuts
        pid, url = victim.child()
        proxy.arm(Cut(_nth(statement), arrives, then=lambda pid=pid: os.kill(pid, signal.SIGKILL)))  # type: ignore[misc]
        try:
            answer = call.send(url, key)
        except httpx.TransportError:
            answer = None
        proxy.mend()
        if proxy.cuts == cuts:
            assert answer is not None
            assert answer.is_success, answer.text
            break
        assert answer is None
        _check_the_key_answers(call, key, survivor)
    assert statement > 3, "the process was killed at hardly any statement"
    assert not Task.objects.filter(pool=world.pool, state_version=0).exists()


def _nth(number: int) -> Callable[[bytes], bool]:
    seen = iter(range(1, number + 1))
    return lambda _: next(seen, 0) == number


def _check_the_key_answers(call: Call, key: str, url: str) -> None:
    """At once where nothing stands in the way, and within the limit in any case."""
    began = time.monotonic()
    while (answer := call.send(url, key)).status_code in (409, 503) and answer.json()["retry"] == "same_key":
        assert time.monotonic() - began < REQUEST_LIMIT_SECONDS, answer.text
        threading.Event().wait(0.05)
    is_answered = answer.is_success or (not call.replays and answer.json()["code"] == "MUST_RECONCILE")
    assert is_answered, answer.text
    assert call.happened() == 1
