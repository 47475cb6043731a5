"""`python -m tests.support.mortal`: a web process that is there to be killed, ready again at once.

For each line of standard input it forks a child that answers one request of the JSON API with the whole
application, and writes the child's pid and port. The parent never opens a connection to the database, so
that each child has its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.util import setup_testing_defaults

from tests.support.serving import ROOT

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


@dataclass
class Mortal:
    """The parent, as a test sees it."""

    process: subprocess.Popen[str]

    def child(self) -> tuple[int, str]:
        """A new child: its pid, and the address where it answers one request."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("fork\n")
        self.process.stdin.flush()
        pid, port = self.process.stdout.readline().split()
        return int(pid), f"http://127.0.0.1:{port}"


@contextmanager
def mortal(variables: Mapping[str, str]) -> Iterator[Mortal]:
    """A parent that lives as long as the block."""
    argv = [sys.executable, "-m", "tests.support.mortal"]
    process = subprocess.Popen(
        argv,
        cwd=ROOT,
        env=dict(variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Mortal(process)
    finally:
        process.kill()
        process.communicate()


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


def _warm_up(application: WSGIApplication) -> None:
    """One request without a token: everything is imported, and no database was asked."""
    environ: dict[str, Any] = {"HTTP_HOST": "127.0.0.1", "PATH_INFO": "/api/v1/whoami"}
    setup_testing_defaults(environ)
    list(application(environ, lambda *_: lambda _: None))


def main() -> None:
    """Fork a child for each line, until there are no more."""
    from config.wsgi_api import application

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _warm_up(application)
    for _ in sys.stdin:
        server = make_server("127.0.0.1", 0, application, handler_class=_Quiet)
        pid = os.fork()
        if pid == 0:
            server.handle_request()
            os._exit(0)
        server.server_close()
        sys.stdout.write(f"{pid} {server.server_port}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
