"""`scripts/blackbox --data DIR --ready-file FILE`: the contract walked from outside, against a running server.

Speaks HTTP with tokens, signs two people in through the browser's form, and runs the operators' commands.
Prints one line for each answer and a table of refusal codes; ends with 1 when an answer was not the
contract's, or when a code that can be seen from outside was not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.blackbox import claims_walk, effects_walk
from tests.blackbox.speaking import Book, say
from tests.blackbox.world import World, made

CODES = (
    "ALREADY_COMMITTED", "ALREADY_DECIDED", "ALREADY_DELIVERED", "ALREADY_EXTENDED", "APPROVAL_REQUIRED", "CANCELLED",
    "CRITERIA_UNMET", "EFFECTS_UNRESOLVED", "EPOCH_CONFLICT", "FENCED", "FORBIDDEN", "GATE_CLOSED", "IN_PROGRESS", "KEY_REUSED",
    "MALFORMED", "MUST_RECONCILE", "NOT_CLAIMABLE", "NOT_CLAIMED", "NOT_ELIGIBLE", "NOT_FOUND", "NOT_HELD", "NOT_QUIET",
    "NOT_REVIEWER", "NOT_STAGED", "OLD_EPOCH", "PAYLOAD_CONFLICT", "PRECONDITION_FAILED", "REVIEW_REQUIRED", "SCOPE_VIOLATION",
    "SELF_REVIEW", "SERIAL_BUSY", "SLOT_MISMATCH", "STALE_DELIVERY", "STALE_INPUT", "STALE_STATE", "THIN_EVIDENCE", "TOO_LARGE",
    "TOO_LATE", "UNAUTHENTICATED", "UNPROCESSABLE", "UNSUPPORTED_MEDIA", "UPGRADE_REQUIRED", "WEAK_OBSERVATION", "WINDOW_EXCEEDED",
)  # fmt: skip
"""Every code that the contract's callers can bring about from outside."""

ELSEWHERE = {
    "RATE_LIMITED": "with --burst, on a server whose limit is below it",
    "BUSY": "a row lock held for more than 2 s: tests/race",
    "OUTCOME_UNKNOWN": "a connection cut during COMMIT: tests/unit/claims/kernel/test_lost_commits.py",
}


MOST_BURSTS = 5


def main() -> int:
    """Walk, then print the table; the exit status."""
    parser = argparse.ArgumentParser("scripts/blackbox", description="Walks the contract from outside.")
    parser.add_argument("--data", required=True, help="data folder of the running scripts/up")
    parser.add_argument(
        "--ready-file", required=True, help="the file that scripts/up wrote when it was ready"
    )
    parser.add_argument("--burst", type=int, default=0, help="so many calls at once, to see RATE_LIMITED")
    given = parser.parse_args()
    here = Path(os.environ.get("FENCEPOST_CALLED_FROM", os.getcwd()))
    ready, book = json.loads((here / given.ready_file).read_text()), Book()
    world = made(book, ready, here / given.data)
    claims_walk.walk(world)
    effects_walk.walk(world)
    burst(world, book, given.burst)
    return table(book, (*CODES, "RATE_LIMITED") if given.burst else CODES)


def burst(world: World, book: Book, calls: int) -> None:
    """Ask who we are until the brake answers; the first refusal is entered.

    On a slow machine the brake's ten seconds may be over before the call that is entered: then once more.
    """
    for _ in range(MOST_BURSTS if calls else 0):
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: world.two.http.get("/whoami").status_code, range(calls)))
        say(f"two        {calls} calls at once: {answers.count(429)} answered 429")
        if 429 in answers:
            world.two.get("/whoami", None)
        if "RATE_LIMITED" in book.seen:
            return


def table(book: Book, wanted: tuple[str, ...]) -> int:
    """Each code with how it was first seen; what is missing or wrong makes the status 1."""
    say(f"\n{book.answers} answers\n")
    for code in (*CODES, *ELSEWHERE):
        say(f"{code:<20} {book.seen.get(code) or ELSEWHERE.get(code) or 'NOT SEEN'}")
    missing = [code for code in wanted if code not in book.seen]
    for line in book.wrong:
        say(f"WRONG: {line[:600]}")
    say(f"\n{len(wanted) - len(missing)} of {len(wanted)} codes seen, {len(book.wrong)} answers wrong.")
    return 1 if missing or book.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
