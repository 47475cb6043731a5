"""`python -m bench.measure`: runs the chosen steps against a running cluster and prints the table.

Ends with 1 when a figure is void or misses its first step, so that a machine can ask.
"""

from __future__ import annotations

import os
import platform
import sys
from argparse import Namespace

import django

django.setup()

from django.db import connection  # noqa: E402 - the measures need Django set up

from bench import library, live, overhttp, pgbench, product, wal  # noqa: E402
from bench.__main__ import parse  # noqa: E402
from bench.figures import Figure, Goal, Slice, compare, table  # noqa: E402

CLAIMERS_THREADS = 8  # in each of eight processes: 64 claimers


class Measures:
    """The steps of one run, and the figures they gave."""

    def __init__(self, given: Namespace) -> None:
        self.seconds, self.rounds = given.seconds, given.rounds
        self.place = product.found()
        self.figures: list[Figure] = []
        self.floor_rate = {pgbench.PAIR: 4_000.0, pgbench.CLAIM: 8_000.0}

    def floor(self, script: str) -> Slice:
        """One slice of the floor; the product's next slice has room for as many tasks a second."""
        made = pgbench.run(script, self.seconds)
        self.floor_rate[script] = made.rate
        return made

    def library(self) -> None:
        """Claim and commit through `claims.transitions` in eight processes, against F4."""
        self.figures.append(
            compare(
                "library: claim + commit / F4",
                Goal(0.40, 0.65),
                self.rounds,
                lambda: self.floor(pgbench.PAIR),
                lambda: library.run(
                    self.place,
                    self.seconds,
                    single=False,
                    threads=1,
                    commits=True,
                    room=self.floor_rate[pgbench.PAIR],
                ),
                say,
            )
        )

    def http(self) -> None:
        """Authenticated calls of the JSON API, against F2 and F4."""
        with overhttp.api() as port:
            self._http(port, "HTTP: claim-next of one / F2", pgbench.CLAIM, pair=False)
            self._http(port, "HTTP: claim, commit / F4", pgbench.PAIR, pair=True)

    def _http(self, port: int, name: str, script: str, *, pair: bool) -> None:
        def calls() -> Slice:
            return overhttp.run(self.place, port, self.seconds, pair=pair, room=self.floor_rate[script])

        figure = compare(name, Goal(0.20, 0.40), self.rounds, lambda: self.floor(script), calls, say)
        self.figures.append(figure)

    def pools(self) -> None:
        """64 claimers on one pool, against the same over eight pools."""

        def claimers(single: bool) -> Slice:
            room = self.floor_rate[pgbench.CLAIM]
            return library.run(
                self.place, self.seconds, single=single, threads=CLAIMERS_THREADS, commits=False, room=room
            )

        self.figures.append(
            compare(
                "64 claimers: one pool / eight",
                Goal(0.90, 0.90),
                self.rounds,
                lambda: claimers(False),
                lambda: claimers(True),
                say,
            )
        )

    def live(self) -> None:
        """HTTP claims with 200 open pages, against nobody looking; web and relay run in both."""
        cookies = [live.sign_in(self.place.person) for _ in range(live.SESSIONS)]
        room = self.floor_rate[pgbench.CLAIM]
        with overhttp.api() as port, live.web_and_relay() as web:

            def unseen() -> Slice:
                return overhttp.run(self.place, port, self.seconds, pair=False, room=room)

            def seen() -> Slice:
                with live.open_pages(web, cookies) as complaints:
                    made = unseen()
                return Slice(made.rate, (*made.flaws, *complaints), made.note)

            self.figures.append(
                compare("HTTP claims: 200 pages / none", Goal(0.95, 0.95), self.rounds, unseen, seen, say)
            )

    def desk(self) -> None:
        """A review by keyboard in Chromium, which the other steps do not need."""
        from bench import desk

        self.figures += desk.measured()

    def pages(self) -> None:
        """Server time of every page with a million tasks."""
        from bench import pages

        self.figures += pages.measured(say)

    def wal(self) -> None:
        """Bytes of WAL and commits of a pair; bytes of a renewal, and whether it is heap-only."""
        with wal.only_the_verbs():
            plain, keyed = wal.pairs(self.place, keyed=False), wal.pairs(self.place, keyed=True)
            renewed, heap_only = wal.renewals(self.place)
        for name, written in (
            ("claim + commit", plain),
            ("claim + commit with keys", keyed),
            ("renew", renewed),
        ):
            say(f"  WAL of one {name}: {written.each():,.0f} B")
            for line in written.lines():
                say(f"    {line}")
        pair = Figure(
            "WAL: claim + commit",
            Goal(3.5, 2.0, True, "KiB"),
            f"{plain.each():,.0f} B",
            "–",
            plain.each() / 1024,
        )
        pair.remarks.append(f"stored answers write {keyed.each(stored_answers=True):,.0f} B more")
        self.figures += [
            pair,
            Figure(
                "commits: claim + commit", Goal(2, 2, True), f"{plain.commits():.2f}", "–", plain.commits()
            ),
            Figure("WAL: renew", Goal(200, 200, True, "B"), f"{renewed.each():,.0f} B", "–", renewed.each()),
            Figure("renew: heap-only", Goal(1.0, 1.0), f"{heap_only:.1%}", "–", heap_only),
        ]


def conditions() -> None:
    """Print what the figures hold for."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('server_version', 'fsync', 'synchronous_commit',"
            " 'full_page_writes', 'shared_buffers', 'wal_sync_method', 'max_wal_size', 'checkpoint_timeout') ORDER BY name"
        )
        settings = ", ".join(f"{name} {value}" for name, value in cursor.fetchall())
    say(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    )
    say(f"PostgreSQL: {settings}")
    say(
        f"floor: pgbench --protocol=prepared, {pgbench.CLIENTS} clients over {os.environ['PGHOST']}; the product over TCP"
    )
    say(
        f"api: granian, {overhttp.WORKERS} workers of {overhttp.BLOCKING_THREADS} threads; wrk, {overhttp.CONNECTIONS} connections"
    )


def say(sentence: str) -> None:
    """One line, at once."""
    print(sentence, flush=True)


def main(arguments: list[str]) -> int:
    """Run the steps in order."""
    given = parse(arguments)
    conditions()
    measures = Measures(given)
    for step in given.steps:
        say(f"\n== {step}")
        getattr(measures, step)()
    say("\n" + table(measures.figures))
    reached = {figure.cells()[-1] for figure in measures.figures}
    return 0 if reached <= {"goal", "first step"} else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
