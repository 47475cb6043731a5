"""`manage.py reconcile_effect`: say what became of an outside effect that is in doubt."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from claims import kernel, transitions
from claims.callers import Caller
from claims.decide import Look
from claims.management.acting import add_person, answered, caller_for, effect_named
from claims.models import Effect
from claims.outcomes import EffectMoved, Refused
from claims.selectors import effects
from claims.vocabulary import EffectState, Said

SAID = [*(said.value for said in Said), EffectState.WRITTEN_OFF.value]


class Command(BaseCommand):
    help = "Say whether an effect happened. WRITTEN_OFF closes a doubt that nothing can end, for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("effect", help="its effectId, or the first 12 characters of it or more")
        parser.add_argument("said", nargs="?", choices=SAID, help="left out: show the effect and its etag")
        parser.add_argument("--reason", default="", help="how you know; kept with the observation")
        parser.add_argument(
            "--receipt", default="", metavar="JSON", help="what the outside answered, an object"
        )
        parser.add_argument(
            "--etag",
            default="",
            help="the effect's etag as it was before you looked; needed for DID_NOT_HAPPEN",
        )
        add_person(parser)

    def handle(self, *args: Any, **given: Any) -> None:
        caller = caller_for(given["person"])
        effect = effect_named(given["effect"])
        if given["said"] is None:
            self.stdout.write(_as_it_is(caller, effect))
            return
        receipt = _receipt(given["receipt"])
        outcome: EffectMoved | Refused
        if given["said"] == EffectState.WRITTEN_OFF:
            outcome = transitions.write_off(caller, effect.id, given["reason"], effect.version)
        else:
            look = Look(Said(given["said"]), etag=given["etag"], receipt=receipt, note=given["reason"])
            outcome = transitions.reconcile_as_operator(caller, effect.id, look, effect.version)
        moved = answered(outcome, caller, f"effect {given['effect']}")
        self.stdout.write(f"The effect {effect.id[:12]} ({effect.slot}) is {moved.state}.")


def _as_it_is(caller: Caller, effect: Effect) -> str:
    """The effect and the etag to name. Raises ``CommandError`` for a person without rights in its pool."""
    seen = effects.effect(effect.id) if kernel.person_in(effect.pool_id, caller.actor.id).rights else None
    if seen is None:
        raise CommandError(f"There is no effect {effect.id[:12]} in a pool in which you have a right.")
    settles = f", settles at {seen.settles_at:%Y-%m-%d %H:%M:%S UTC}" if seen.settles_at else ""
    return (
        f"{seen.effect_id}\nslot {seen.slot}, target {seen.target}: {seen.state}{settles}, etag {seen.etag}\n"
        "Look now, then say what you saw and name this etag."
    )


def _receipt(written: str) -> dict[str, object] | None:
    """The receipt, None where none is given. Raises ``CommandError`` for what is no JSON object."""
    if not written:
        return None
    try:
        receipt = json.loads(written)
    except ValueError as error:
        raise CommandError(f"--receipt is not JSON: {error}.") from error
    if not isinstance(receipt, dict):
        raise CommandError("--receipt is a JSON object.")
    return receipt
