"""``fencepost run``: claim, run a command with the grant in its environment, hand in what it left."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .calls import Client
from .evidence import captured
from .files import CANNOT_BE_DONE, Unusable, read_hand_in
from .grants import Grant
from .problems import Lost, Stopped

Say = Callable[[str], None]


def run_one(
    client: Client,
    grant: Grant,
    command: Sequence[str],
    environment: dict[str, str],
    say: Say,
    seconds: float,
) -> bool:
    """Do one task with a command; whether it was delivered.

    Exit code 0 hands in, 65 fails for good, anything else fails and may be tried again.
    """
    with tempfile.TemporaryDirectory(prefix="fencepost-") as folder:
        out = Path(folder, "out")
        out.mkdir()
        _write_grant(Path(folder, "grant.json"), grant)
        variables = {
            **environment,
            "FENCEPOST_GRANT": str(Path(folder, "grant.json")),
            "FENCEPOST_FENCE": json.dumps(dict(grant.fence)),
            "FENCEPOST_OUT": str(out),
        }
        try:
            with client.working(grant) as work:
                ran = captured(command, None, work, seconds, variables)
                return _end(client, grant, ran.exit_code, ran.output, out, say)
        except (Lost, Stopped) as lost:
            say(f"{grant}: stopped: {lost}")
            return False


def _end(client: Client, grant: Grant, code: int, output: bytes, out: Path, say: Say) -> bool:
    tail = output[-2_000:].decode(errors="replace").strip()
    if code == CANNOT_BE_DONE:
        client.fail(grant, f"The command says that it cannot be done. {tail}"[:2_000], retryable=False)
        say(f"{grant}: failed for good")
        return False
    if code != 0:
        client.fail(grant, f"The command ended with {code}. {tail}"[:2_000], retryable=True)
        say(f"{grant}: failed with exit code {code}")
        return False
    try:
        read = read_hand_in(out)
    except Unusable as unusable:
        client.fail(grant, str(unusable)[:2_000], retryable=True)
        say(f"{grant}: {unusable}")
        return False
    read.evidence.add_bytes(output, name="command-output", kind="log")
    answer = client.deliver(grant, read.result, read.evidence, read.summary, read.needs, read.claims)
    say(f"{grant}: delivered, round {answer['round']}")
    return True


def _write_grant(path: Path, grant: Grant) -> None:
    body: dict[str, Any] = dict(grant.body)
    path.touch(mode=0o600)
    path.write_text(json.dumps(body), encoding="utf-8")


def own_environment() -> dict[str, str]:
    """Variables the command needs beside those it inherits; none by itself."""
    return {name: os.environ[name] for name in ("FENCEPOST_POOL", "FENCEPOST_CHROMIUM") if name in os.environ}
