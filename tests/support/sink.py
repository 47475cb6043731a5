"""`python -m tests.support.sink LOG`: an outside system that remembers every call and refuses none.

It does not de-duplicate, and it fences on nothing: two calls for one effect are two calls. The header
`Sink-Answers` says how one call is answered:

- `at-once`: kept, and answered;
- `late`: kept at once, answered seconds later;
- `error`: kept, and answered with 500;
- `cut`: kept, and the connection is closed without an answer;
- `lost`: not kept, and answered with 503.

A call is on disk before it is answered. `GET /calls/{effectId}` is the look-up: 200 with what is kept, or 404.
The first line of standard output is the port.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LATE_SECONDS = 5.0


class Log:
    """What was called, in order; one line of the file for each call."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._kept: dict[str, list[dict[str, Any]]] = {}

    def keep(self, call: dict[str, Any]) -> None:
        """Write one call down."""
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(call) + "\n")
            file.flush()
            self._kept.setdefault(call["effectId"], []).append(call)

    def calls(self, effect_id: str) -> list[dict[str, Any]]:
        """The calls for one effect."""
        with self._lock:
            return list(self._kept.get(effect_id, []))


class Handler(BaseHTTPRequestHandler):
    """One connection. Nothing is written to standard error."""

    log: Log

    def do_POST(self) -> None:
        """A call, kept and answered as its header asks."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        manner = self.headers.get("Sink-Answers", "at-once")
        if manner == "lost":
            self._answer(503, {"kept": False})
            return
        self.log.keep(
            {
                "effectId": self.headers["Idempotency-Key"],
                "permitId": self.headers["Permit-Id"],
                "generation": int(self.headers["Claim-Generation"]),
                "payload": body,
                "at": time.monotonic(),
            }
        )
        if manner == "cut":
            self.close_connection = True
            return
        if manner == "late":
            threading.Event().wait(LATE_SECONDS)
        self._answer(500 if manner == "error" else 201, {"id": self.headers["Idempotency-Key"][:8]})

    def do_GET(self) -> None:
        """The look-up."""
        calls = self.log.calls(self.path.rpartition("/")[2])
        self._answer(200 if calls else 404, {"calls": len(calls)})

    def log_message(self, format: str, *args: object) -> None:
        """Requests are in the log already."""

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            self.close_connection = True


@dataclass(frozen=True)
class Sink:
    """A running sink as a test sees it."""

    port: int
    path: Path

    @property
    def url(self) -> str:
        """Where it is called."""
        return f"http://127.0.0.1:{self.port}/calls"

    def calls(self, effect_id: str) -> list[dict[str, Any]]:
        """Every call for an effect, oldest first, as it is on disk."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return [call for call in map(json.loads, lines) if call["effectId"] == effect_id]


@contextmanager
def sinking(folder: Path) -> Iterator[Sink]:
    """A sink in a process of its own."""
    path = folder / "calls.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.sink", str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield Sink(int(process.stdout.readline()), path)
    finally:
        process.terminate()
        process.wait(15)
        process.stdout.close()


def main(path: str) -> None:
    """Serve until told to end."""
    Handler.log = Log(Path(path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
