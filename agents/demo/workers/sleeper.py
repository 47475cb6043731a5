"""A demo agent that stops answering: it shows a quiet claim, and later a delivery that comes too late.

It works on its claim for a little while, renews a few times, and falls asleep. Whoever gives its task away makes it
look up: it then hands in what it had, under its old fence, and logs what it was told. It remembers nothing between
two starts; what it has to know it reads from the server, so it may be killed at any time.
"""

from __future__ import annotations

import os
import time
from typing import Any

from client import Client, Evidence, Grant, Problem, Unreachable

NOTES = (
    "Reading how the page writes its invoices",
    "Looking for the place where the header belongs",
    "Thinking about the order of the columns",
)
LAST_NOTE = NOTES[-1]
"""The note it falls asleep on; an attempt that shows it is asleep already."""

TERM_SECONDS = 25
WAIT_SECONDS = 20
PAUSE_SECONDS = 3.0


def main() -> None:
    """Live through one claim after the other, for as long as the process runs."""
    pace = float(os.environ.get("FENCEPOST_PACE") or 8)
    with Client(os.environ["FENCEPOST_URL"], os.environ["FENCEPOST_TOKEN"]) as client:
        past = Past()
        while True:
            try:
                if not live_through(client, past, pace):
                    time.sleep(PAUSE_SECONDS)
            except (Problem, Unreachable) as trouble:
                say(f"the server said: {trouble}")
                time.sleep(PAUSE_SECONDS)


def live_through(client: Client, past: Past, pace: float) -> bool:
    """Take one claim to its end: work, sleep, wake up too late. False when there is none to live through."""
    live = client.mine()
    if live:
        if client.attempt(live[0].attempt_id)["note"] != LAST_NOTE:
            work(client, live[0], pace)
        sleep_until_it_is_gone(client, live[0].attempt_id)
    late = forgotten(client, past)
    if late is None:
        return bool(live)
    wake_up(client, late)
    return True


def work(client: Client, grant: Grant, pace: float) -> None:
    """A few steps, each with a note and a renewal but the last."""
    say(f"{grant}: at work, generation {grant.fence['claimGeneration']}")
    for note in NOTES:
        client.progress(grant, note)
        if note != LAST_NOTE:
            client.renew(grant, TERM_SECONDS, tries=3)
            time.sleep(pace)
    say(f"{grant}: asleep; nothing will be heard of this claim")


def sleep_until_it_is_gone(client: Client, attempt_id: str) -> None:
    """Read, and write nothing, until the claim has been given away."""
    while client.attempt(attempt_id, WAIT_SECONDS)["live"]:
        continue


class Past:
    """What has happened in the agent's pools: read to its end once, and then from there."""

    def __init__(self) -> None:
        self.read_to, self.newest_claim = "0.0.0", None

    def read_on(self, client: Client, me: str) -> str | None:
        """The newest attempt that was granted to this agent."""
        page = client.events(self.read_to)
        while page["events"]:
            for row in page["events"]:
                if row["to"] == "CLAIMED" and row["body"].get("runner") == me:
                    self.newest_claim = row["attemptId"]
            self.read_to = page["next"]
            page = client.events(self.read_to)
        return self.newest_claim


def forgotten(client: Client, past: Past) -> dict[str, Any] | None:
    """The newest attempt of this agent, when its claim was lost in its sleep and it has not tried to deliver since."""
    newest = past.read_on(client, client.whoami()["agent"])
    attempt = client.attempt(newest) if newest else None
    if attempt is None or attempt["live"] or attempt["note"] != LAST_NOTE or attempt["delivery"]:
        return None
    refusals = client.refusals(attempt["taskId"])
    was_told = any(row["attemptId"] == newest and row["verb"] == "deliver" for row in refusals)
    return None if was_told else attempt


def wake_up(client: Client, attempt: dict[str, Any]) -> None:
    """Hand in what there was when it fell asleep, as if nothing had happened since."""
    task = client.task(attempt["taskId"])
    grant = Grant.parse(
        {
            **{name: attempt[name] for name in ("attemptId", "taskId", "number", "title", "fence")},
            "inputDigest": task["inputDigest"],
            "input": task["input"],
            "round": 1,
            "leaseSecondsRemaining": 0,
        }
    )
    say(f"{grant}: awake again, and still sure that the task is mine")
    evidence = Evidence()
    notes = "\n".join(f"{number}. {note}" for number, note in enumerate(NOTES, start=1))
    evidence.add_bytes(
        f"{task['title']}\n\n{notes}\n".encode(), name="notes", kind="log", media_type="text/plain"
    )
    try:
        client.deliver(grant, {"notes": len(NOTES)}, evidence, summary="What I had when I was interrupted.")
    except Problem as problem:
        say(f"{grant}: {problem}")
        if problem.retry == "same_key":
            raise


def say(line: str) -> None:
    """One line of the log."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
