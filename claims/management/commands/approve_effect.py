"""`manage.py approve_effect`: let an effect that cannot be taken back be sent once, or refuse it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from claims import transitions
from claims.callers import Caller
from claims.management.acting import add_person, answered, caller_for, effect_named
from claims.models import Effect, Task
from claims.outcomes import Approved, Refused
from claims.selectors import api as selectors
from claims.vocabulary import Right


class Command(BaseCommand):
    help = (
        "Approve one sending of one payload. Without --payload-digest it shows the payload and asks for it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("effect", help="its effectId, or the first 12 characters of it or more")
        parser.add_argument("--refuse", action="store_true", help="it is not to be sent")
        parser.add_argument("--payload-digest", default="", help="of the payload you have read")
        parser.add_argument("--note", default="", help="kept with the answer; a refusal says why")
        add_person(parser)

    def handle(self, *args: Any, **given: Any) -> None:
        caller = caller_for(given["person"])
        effect = effect_named(given["effect"])
        task = Task.objects.select_related("pool").get(id=effect.task_id)
        if not given["payload_digest"]:
            self._show(caller, effect, task)
            raise CommandError("Nothing was approved: name the payload you have read by --payload-digest.")
        outcome = _answer(caller, effect, task, given)
        approved = answered(outcome, caller, f"effect {given['effect']}")
        until = f" until {approved.expires_at:%Y-%m-%d %H:%M UTC}" if approved.expires_at else ""
        self.stdout.write(f"The approval of {effect.id[:12]} ({effect.slot}) is {approved.state}{until}.")

    def _show(self, caller: Caller, effect: Effect, task: Task) -> None:
        """What would be sent, to whoever may approve it."""
        if Right.REVIEWER not in selectors.rights_of(caller.actor.id).get(task.pool_id, []):
            raise CommandError("NOT_REVIEWER: You do not have the right to review in this pool.")
        self.stdout.write(f"{task} {task.title}: slot {effect.slot} to {effect.target}, {effect.state}.")
        self.stdout.write(f"It has been in doubt {effect.doubts} times and had {effect.permits} permits.")
        self.stdout.write(json.dumps(effect.payload, indent=2, ensure_ascii=True, sort_keys=True))
        self.stdout.write(f"payload digest: {effect.payload_digest}")


def _answer(caller: Caller, effect: Effect, task: Task, given: dict[str, Any]) -> Approved | Refused:
    """The person's answer, bound to what is true as it is given."""
    digest, note = given["payload_digest"], given["note"]
    if given["refuse"]:
        return transitions.refuse(caller, effect.id, digest, note)
    epoch = task.pool.scheduler_epoch
    return transitions.approve(
        caller, effect.id, digest, task.claim_generation, epoch, effect.doubts, note=note
    )
