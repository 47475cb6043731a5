"""`manage.py release_gate` and `check_history`: what they print, and when they exit with status 1."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from claims import canaries, checking, transitions
from claims.checking import POINTS
from claims.decide import fence as comparing
from claims.fences import Fence
from claims.kernel import reading
from claims.models import Task
from claims.outcomes import Refused
from claims.vocabulary import ReviewPolicy, Said, Verb
from tests.support.effects import a_key, a_look, a_slot, long_ago, permitted, prepared, with_slots
from tests.support.planting import plant
from tests.support.world import World, a_world, grants_of, judgement

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forgotten_pools() -> None:
    """A process remembers pools by name; here the canaries' pool is made anew for each test."""
    reading._known_pool_named.cache_clear()


@pytest.fixture
def busy(db: None) -> World:
    """A pool in which every acceptance point has accepted something."""
    world = a_world(allows_unreviewed=True)
    caller = world.caller()
    lost = world.claimed()
    transitions.fail(caller, lost.fence, "no network", True)
    transitions.release(
        caller, grants_of(transitions.claim_next(caller, world.pool.name, world.epoch))[0].fence, "night"
    )
    delivery = world.delivered()
    transitions.accept(world.person(world.reviewer), delivery.id, judgement(delivery))
    plain = world.claimed(review_policy=ReviewPolicy.NONE)
    transitions.commit(caller, plain.fence, plain.input_digest, staged=world.staged(plain))
    send_everything(world)
    held = world.claimed().fence
    transitions.renew(caller, held, 60)
    transitions.progress(caller, held, "halfway")
    transitions.accept_tool(caller, held, "git.push", f"sha256:{'a' * 64}")
    return world


def send_everything(world: World) -> None:
    """Effects that were confirmed, in doubt, handed back, given up, and looked up."""
    granted = world.claimed(input=with_slots(*(a_slot(slot) for slot in ("a", "b", "c", "d"))))
    caller, fence = world.caller(), granted.fence
    sent = {slot: prepared(world, granted, slot) for slot in ("a", "b", "c", "d")}
    permit = permitted(world, granted, sent["a"])
    transitions.confirm(caller, fence, sent["a"], permit.permit_id, {"id": "msg-1"})
    permit = permitted(world, granted, sent["b"])
    transitions.unknown(caller, fence, sent["b"], permit.permit_id, "cut off")
    long_ago(sent["b"], 600)
    transitions.reconcile(caller, fence, sent["b"], a_look(sent["b"], Said.HAPPENED))
    key = a_key()
    permitted(world, granted, sent["c"], key=key)
    transitions.hand_back(caller, fence, sent["c"], key)
    transitions.abandon(caller, fence, sent["d"], "not needed")


def ran(command: str, *given: str) -> str:
    out = StringIO()
    call_command(command, *given, stdout=out)
    return out.getvalue()


def test_the_gate_is_open_when_all_was_validated_and_every_canary_refused(busy: World) -> None:
    printed = ran("release_gate", "--pool", busy.pool.name)
    lines = {line.split()[0]: line for line in printed.splitlines()}
    assert set(lines) >= set(POINTS)
    assert all("100.0 %" in lines[point] and "GOT THROUGH" not in lines[point] for point in POINTS)
    assert "The gate is open" in printed


def test_the_gate_stays_shut_for_points_without_traffic(world: World) -> None:
    world.claimed()
    with pytest.raises(
        CommandError, match=r"No traffic has been seen at claim-next, renew, .*, accept-tool\."
    ):
        ran("release_gate", "--pool", world.pool.name)


def test_the_canaries_are_nobodys_traffic(world: World) -> None:
    canaries.run([Verb.RENEW])
    assert {point.accepted for point in checking.coverage()} == {0}
    assert {point.accepted for point in checking.coverage(checking.CANARY_POOL)} != {0}


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        ("history", "UPDATE claims_history SET validated = '1.1.1' WHERE verb = 'deliver'"),
        ("history", "UPDATE claims_history SET validated = '1.1.1' WHERE verb = 'claim-next'"),
        ("lease", "UPDATE claims_lease SET renewed_under = '1.1.1' WHERE renewals > 0"),
        ("attempt", "UPDATE claims_attempt SET noted_under = '1.1.1' WHERE noted_at IS NOT NULL"),
        ("stagedresult", "UPDATE claims_stagedresult SET validated = '1.1.1'"),
        ("evidencefile", "UPDATE claims_evidencefile SET validated = '1.1.1'"),
        ("toolacceptance", "UPDATE claims_toolacceptance SET validated = '1.1.1'"),
    ],
)
def test_the_gate_stays_shut_when_something_was_not_validated(
    busy: World, table: str, statement: str
) -> None:
    plant(table, statement)
    with pytest.raises(CommandError, match=r"[1-9] of [1-9] were not validated\."):
        ran("release_gate", "--pool", busy.pool.name)


def test_a_claim_under_an_epoch_that_had_ended_was_not_validated(busy: World) -> None:
    plant(
        "poolevent",
        "INSERT INTO claims_poolevent (pool_id, verb, before, after, reason, actor_kind, actor_id, actor_name, source, request_id, at)"
        " SELECT id, 'raise-epoch', '0', (scheduler_epoch + 1)::text, 'why', 'PERSON', 1, 'x', 'COMMAND', 'req', created_at"
        " FROM claims_pool WHERE id = %s",
        busy.pool.pk,
    )
    covered = {point.point: point for point in checking.coverage(busy.pool.name)}
    assert (covered[Verb.CLAIM].validated, covered[Verb.CLAIM].is_whole) == (0, False)


def test_the_gate_stays_shut_when_a_canary_got_through(busy: World, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = comparing.lost_fields
    monkeypatch.setattr(
        comparing, "lost_fields", lambda *seen: [lost for lost in whole(*seen) if lost != "schedulerEpoch"]
    )
    with pytest.raises(CommandError, match="renew: a stale epoch was answered Renewed"):
        ran("release_gate", "--pool", busy.pool.name)


def test_the_gate_says_that_there_is_no_such_pool(db: None) -> None:
    with pytest.raises(CommandError, match="There is no pool elsewhere"):
        ran("release_gate", "--pool", "elsewhere")


def test_a_history_that_holds_is_certified_in_words(busy: World) -> None:
    printed = ran("check_history", "--pool", busy.pool.name)
    tasks = Task.objects.filter(pool=busy.pool).count()
    assert f"The history of pool {busy.pool.name} holds." in printed
    assert f"{tasks} tasks" in printed
    assert "versions run from one without a gap" not in printed
    assert "versions run from one without a gap" in ran("check_history", "--verbosity", "2")
    assert "sha256:" in printed


def test_one_task_is_named_by_its_number_or_its_id(world: World) -> None:
    task = Task.objects.get(id=world.claimed().fence.task_id)
    for name in (f"T-{task.number}", str(task.id)):
        assert f"The history of {name} holds." in ran("check_history", "--task", name)


@pytest.mark.parametrize(
    "given", [("--pool", "elsewhere"), ("--task", "T-1"), ("--task", "0190a2a4-0000-7000-8000-000000000000")]
)
def test_what_is_not_there_is_not_certified(db: None, given: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match="There is no"):
        ran("check_history", *given)


def test_a_task_of_another_pool_is_not_certified_in_this_one(world: World) -> None:
    task_id, other = world.task(), a_world()
    with pytest.raises(CommandError, match="There is no task"):
        ran("check_history", "--pool", other.pool.name, "--task", str(task_id))


def test_the_first_violation_is_told_in_one_sentence(world: World) -> None:
    task = Task.objects.get(id=world.claimed().fence.task_id)
    plant(
        "history",
        "UPDATE claims_history SET request_id = 'other' WHERE task_id = %s AND verb = 'claim'",
        task.id,
    )
    with pytest.raises(CommandError, match=f"T-{task.number}: Version 2 is not what was written"):
        ran("check_history")


def test_the_head_changes_with_every_change_and_with_nothing_else(world: World) -> None:
    granted = world.claimed()
    before = head(granted.fence)
    transitions.renew(world.caller(), granted.fence, 60)
    assert head(granted.fence) == before
    assert not isinstance(transitions.release(world.caller(), granted.fence, "night"), Refused)
    assert head(granted.fence) != before


def head(fence: Fence) -> str:
    found = checking.check(task=fence.task_id)
    assert isinstance(found, checking.Certificate), found
    return found.head
