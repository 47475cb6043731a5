"""What the tests of look-ups share: an effect, and an HTTP sink that keeps the truth."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import LazySettings

from claims.lookups.sighting import Subject

EFFECT = "5a" * 32
PAYLOAD = "sha256:" + "c3" * 32


@pytest.fixture
def subject() -> Subject:
    return Subject(EFFECT, PAYLOAD, "charge", "customers/42")


class Asked(BaseHTTPRequestHandler):
    """Answers from the truth, unless the test put something else in its place."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        sink = cast("Sink", self.server)
        sink.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        if sink.instead is not None:
            sink.instead(self)
            self.close_connection = True
            return
        key = parse_qs(urlsplit(self.path).query).get("key", [""])[0]
        if key in sink.truth:
            self.say(200, sink.truth[key].encode(), ETag='"7"')
        else:
            self.say(404, b'{"error": "no such charge"}')

    def say(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the sink keeps its own log."""


class Sink(ThreadingHTTPServer):
    """``truth`` maps an effectId to what was charged; ``asked`` is the log of calls."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Asked)
        self.truth: dict[str, str] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.instead: Callable[[Asked], None] | None = None
        self.is_closing = threading.Event()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle is what some tests want."""


@pytest.fixture
def sink(settings: LazySettings) -> Iterator[Sink]:
    """A real server on loopback, which the settings allow."""
    server = Sink()
    settings.FENCEPOST_LOOKUP_HOSTS = [server.host]
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    yield server
    server.is_closing.set()
    server.shutdown()
    serving.join()
    server.server_close()
