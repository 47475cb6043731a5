"""The commands about effects: a doubt ended by an operator, an approval given by a reviewer."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from claims.vocabulary import EffectState
from tests.support.effects import (
    ONCE_ONLY,
    approvals,
    effect_row,
    etag_of,
    long_ago,
    observations,
    prepared,
    state_of,
    unknown,
    with_effect,
)
from tests.support.world import World, a_world

pytestmark = pytest.mark.django_db


def said(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def in_doubt(world: World) -> str:
    """An effect whose sender can no longer be on its way."""
    effect_id, _ = unknown(world, with_effect(world))
    long_ago(effect_id, 3_600)
    return effect_id


def by(world: World) -> list[str]:
    return ["--as", world.operator.username]


@pytest.mark.parametrize(
    ("word", "words", "state"),
    [
        ("HAPPENED", ["--receipt", '{"id": "msg-1"}'], EffectState.COMMITTED),
        ("DID_NOT_HAPPEN", ["--reason", "their log has no such call"], EffectState.PREPARED),
        ("CANNOT_TELL", ["--reason", "their log is gone"], EffectState.UNKNOWN),
        ("WRITTEN_OFF", ["--reason", "nobody can know"], EffectState.WRITTEN_OFF),
    ],
)
def test_an_operator_ends_a_doubt(world: World, word: str, words: list[str], state: EffectState) -> None:
    effect_id = in_doubt(world)
    line = said("reconcile_effect", effect_id[:12], word, "--etag", etag_of(effect_id), *words, *by(world))
    assert line == f"The effect {effect_id[:12]} (mail) is {state}.\n"
    assert state_of(effect_id) is state


def test_an_effect_is_shown_with_the_etag_that_its_look_has_to_name(world: World) -> None:
    effect_id = in_doubt(world)
    shown = said("reconcile_effect", effect_id[:12], *by(world))
    assert f"etag {etag_of(effect_id)}" in shown
    assert "UNKNOWN" in shown
    with pytest.raises(CommandError, match="WEAK_OBSERVATION: "):
        said("reconcile_effect", effect_id[:12], "DID_NOT_HAPPEN", "--reason", "not there", *by(world))


def test_what_an_operator_says_too_early_is_told_to_be_weak(world: World) -> None:
    effect_id, _ = unknown(world, with_effect(world))
    with pytest.raises(CommandError, match="WEAK_OBSERVATION: "):
        said("reconcile_effect", effect_id, "DID_NOT_HAPPEN", "--reason", "not there", *by(world))
    assert state_of(effect_id) is EffectState.UNKNOWN


def test_a_reviewer_and_a_stranger_reconcile_nothing(world: World) -> None:
    effect_id = in_doubt(world)
    before = observations(effect_id)
    for person, answer in (
        (world.reviewer, "FORBIDDEN: "),
        (a_world().operator, "There is no effect .* a right"),
    ):
        with pytest.raises(CommandError, match=answer):
            said("reconcile_effect", effect_id, "HAPPENED", "--receipt", "{}", "--as", person.username)
    assert observations(effect_id) == before


@pytest.mark.parametrize("receipt", ["{", "[]", '"x"'])
def test_a_receipt_is_a_json_object(world: World, receipt: str) -> None:
    effect_id = in_doubt(world)
    with pytest.raises(CommandError, match="--receipt is"):
        said("reconcile_effect", effect_id, "HAPPENED", "--receipt", receipt, *by(world))


@pytest.mark.parametrize("written", ["", "abc", "Z" * 64, "0" * 64, "%" * 12])
def test_an_effect_is_named_by_so_much_of_its_id_that_it_is_the_only_one(world: World, written: str) -> None:
    in_doubt(world)
    with pytest.raises(CommandError, match="No effect begins with"):
        said("reconcile_effect", written, "HAPPENED", *by(world))


def test_an_approver_first_reads_the_payload_and_then_names_its_digest(world: World) -> None:
    effect_id = prepared(world, with_effect(world, **ONCE_ONLY))
    digest, out = effect_row(effect_id).payload_digest, StringIO()
    words = ["approve_effect", effect_id, "--as", world.reviewer.username]
    with pytest.raises(CommandError, match="Nothing was approved"):
        call_command(*words, stdout=out)
    assert '"text": "done"' in out.getvalue()
    assert f"payload digest: {digest}\n" in out.getvalue()
    assert approvals(effect_id) == []
    line = said(*words, "--payload-digest", digest)
    assert line.startswith(f"The approval of {effect_id[:12]} (mail) is GRANTED until ")
    assert approvals(effect_id) == ["GRANTED"]


def test_an_approver_refuses_and_says_why(world: World) -> None:
    effect_id = prepared(world, with_effect(world, **ONCE_ONLY))
    digest = effect_row(effect_id).payload_digest
    words = [
        "approve_effect",
        effect_id,
        "--refuse",
        "--payload-digest",
        digest,
        "--as",
        world.reviewer.username,
    ]
    assert said(*words, "--note", "wrong address") == f"The approval of {effect_id[:12]} (mail) is REFUSED.\n"
    assert approvals(effect_id) == ["REFUSED"]


def test_another_payload_than_was_read_is_not_approved(world: World) -> None:
    effect_id = prepared(world, with_effect(world, **ONCE_ONLY))
    words = [
        "approve_effect",
        effect_id,
        "--payload-digest",
        f"sha256:{'0' * 64}",
        "--as",
        world.reviewer.username,
    ]
    with pytest.raises(CommandError, match="STALE_STATE: "):
        said(*words)
    assert approvals(effect_id) == []


def test_who_may_not_review_neither_reads_a_payload_nor_approves_it(world: World) -> None:
    effect_id = prepared(world, with_effect(world, **ONCE_ONLY))
    digest = effect_row(effect_id).payload_digest
    for person in (world.operator, a_world().reviewer):
        out = StringIO()
        with pytest.raises(CommandError, match="NOT_REVIEWER: "):
            call_command("approve_effect", effect_id, "--as", person.username, stdout=out)
        assert out.getvalue() == ""
        with pytest.raises(CommandError, match=r"NOT_REVIEWER: |There is no effect"):
            said("approve_effect", effect_id, "--payload-digest", digest, "--as", person.username)
    assert approvals(effect_id) == []
