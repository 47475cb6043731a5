"""`manage.py release_gate`: whether every acceptance point validates all that it accepts."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from claims import canaries, checking
from claims.checking import Coverage
from claims.models import CanaryRun

_LINE = "{:<12} {:>10} {:>10} {:>8}  {}"


class Command(BaseCommand):
    help = "Send the canaries and count coverage; status 1 below 100 %, without traffic, or when one got through."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pool", help="count this pool's traffic; that of all pools when absent")

    def handle(self, *args: Any, **given: Any) -> None:
        try:
            covered = checking.coverage(given["pool"])
            runs = canaries.run()
        except (LookupError, canaries.CanaryFailed) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(_LINE.format("point", "accepted", "validated", "ratio", "canaries"))
        for point in covered:
            self.stdout.write(_line(point, _of_point(runs, point)))
        flaws = _silence(covered) + [
            flaw for point in covered for flaw in _flaws(point, _of_point(runs, point))
        ]
        if flaws:
            raise CommandError("The gate stays shut. " + " ".join(flaws))
        self.stdout.write(
            "The gate is open: all that was accepted was validated, and every canary was refused."
        )


def _of_point(runs: Sequence[CanaryRun], point: Coverage) -> list[CanaryRun]:
    return [run for run in runs if run.point == point.point]


def _line(point: Coverage, runs: Sequence[CanaryRun]) -> str:
    ratio = "–" if point.ratio is None else f"{int(point.ratio * 1_000) / 10:.1f} %"
    told = ", ".join(
        f"{run.stale}: {'refused' if run.was_refused else 'GOT THROUGH'} {run.answer}" for run in runs
    )
    return _LINE.format(point.point.value, point.accepted, point.validated, ratio, told)


def _silence(covered: Sequence[Coverage]) -> list[str]:
    """Which points have accepted nothing yet: nothing is known about them."""
    silent = [point.point.value for point in covered if not point.accepted]
    return [f"No traffic has been seen at {', '.join(silent)}."] if silent else []


def _flaws(point: Coverage, runs: Sequence[CanaryRun]) -> list[str]:
    """What keeps the gate shut at one point, each in a sentence."""
    flaws = []
    if point.validated < point.accepted:
        flaws.append(
            f"{point.point}: {point.accepted - point.validated} of {point.accepted} were not validated."
        )
    if not runs:
        flaws.append(f"{point.point}: no canary was sent.")
    flaws += [
        f"{point.point}: a stale {run.stale} was answered {run.answer}."
        for run in runs
        if not run.was_refused
    ]
    return flaws
