"""`python -m bench.claimer`: one process of the library measure; claims, and commits, through the verbs.

Reads its orders as one JSON line, says `ready` after some claims that are not counted, starts at the next
line, and ends with one JSON line: what it was told, so that the books can be compared.
"""

from __future__ import annotations

import json
import random
import sys
import time
from dataclasses import dataclass, field
from threading import Barrier, Thread
from typing import Any

import django

WARM_UP = 10


@dataclass
class Told:
    """What one thread was told, and how long each round took (seconds)."""

    grants: list[tuple[str, int]] = field(default_factory=list)
    commits: int = 0
    nothing: int = 0
    times: list[float] = field(default_factory=list)


def main() -> None:
    """Run one process."""
    orders = json.loads(sys.stdin.readline())
    django.setup()
    threads = int(orders["threads"])
    told = [Told() for _ in range(threads)]
    ready, go = Barrier(threads + 1), Barrier(threads + 1)
    workers = [Thread(target=_work, args=(orders, part, ready, go)) for part in told]
    for worker in workers:
        worker.start()
    ready.wait()
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.monotonic()
    go.wait()
    for worker in workers:
        worker.join()
    print(
        json.dumps(
            {
                "grants": [grant for part in told for grant in part.grants],
                "commits": sum(part.commits for part in told),
                "nothing": sum(part.nothing for part in told),
                "times": [round(seconds, 6) for part in told for seconds in part.times],
                "seconds": time.monotonic() - began,
            }
        )
    )


def _work(orders: dict[str, Any], told: Told, ready: Barrier, go: Barrier) -> None:
    from claims.callers import Actor, Caller
    from claims.vocabulary import ActorKind, Source

    actor = Actor(ActorKind.AGENT, orders["agent"]["id"], orders["agent"]["name"])

    def again(into: Told) -> None:
        pool, epoch = random.choice(orders["pools"])
        _once(Caller(actor, Source.WORKER), pool, epoch, orders["commits"], into)

    for _ in range(WARM_UP):
        again(Told())
    ready.wait()
    go.wait()
    end = time.monotonic() + float(orders["seconds"])
    now = time.monotonic()
    while now < end:
        again(told)
        before, now = now, time.monotonic()
        told.times.append(now - before)


def _once(caller: Any, pool: str, epoch: int, commits: bool, told: Told) -> None:
    """One claim, and its commit."""
    from claims import transitions
    from claims.outcomes import Committed, Grants
    from claims.transitions import StagedResult

    granted = transitions.claim_next(caller, pool, epoch)
    if not isinstance(granted, Grants):
        raise RuntimeError(f"claim-next was refused: {granted}")
    if not granted.grants:
        told.nothing += 1
        return
    grant = granted.grants[0]
    told.grants.append((str(grant.fence.task_id), grant.fence.claim_generation))
    if commits:
        done = transitions.commit(
            caller, grant.fence, grant.input_digest, staged=StagedResult({"ok": True}, [])
        )
        if not isinstance(done, Committed):
            raise RuntimeError(f"commit was refused: {done}")
        told.commits += 1


if __name__ == "__main__":
    main()
