"""`manage.py sweep`: one round of what the clock does, by hand."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from claims import sweeps


class Command(BaseCommand):
    help = "End expired AUTO claims and claims of an old epoch, hold what disabled agents had, expire keys."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--evidence",
            action="store_true",
            help="also collect evidence that nothing names, in all of the storage",
        )

    def handle(self, *args: Any, **given: Any) -> None:
        swept = sweeps.sweep(budget_seconds=600)
        self.stdout.write(f"{swept.lapsed} claims ended, {swept.held} held, {swept.keys} keys forgotten.")
        if given["evidence"]:
            rounds = [sweeps.collect(shard) for shard in range(sweeps.SHARDS)]
            late, blobs, files = (
                sum(getattr(each, name) for each in rounds) for name in ("late", "blobs", "files")
            )
            self.stdout.write(f"{late} late files and {blobs} digests forgotten, {files} files deleted.")
