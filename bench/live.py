"""Open live pages: sockets at /ws of `web`, signed in by a session, that hear every hint and say nothing.

Only the sockets are opened. What a browser fetches on a hint is not measured here.
"""

from __future__ import annotations

import base64
import secrets
import selectors
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Event, Thread

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User

from bench.overhttp import running
from config.up.environment import ROOT
from config.up.servers import free_port

PAGES = 200
SESSIONS = 20
"""A team of twenty, each with ten pages open."""
PING, PONG = 0x9, 0xA


@contextmanager
def web_and_relay() -> Iterator[int]:
    """The programs that serve live pages, with nobody looking yet."""
    port = free_port()
    web = [sys.executable, "-m", "config.web", "--port", str(port), "--processes", "2"]
    relay = [sys.executable, str(ROOT / "manage.py"), "relay"]
    with running("web", web, port), running("relay", relay):
        yield port


def sign_in(person: User) -> str:
    """The Cookie header of a new session."""
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return f"{settings.SESSION_COOKIE_NAME}={session.session_key}"


class Page:
    """One open socket. It reads what comes, answers pings, and looks into nothing."""

    def __init__(self, port: int, cookie: str) -> None:
        self.link = socket.create_connection(("127.0.0.1", port), timeout=30)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        lines = [
            "GET /ws HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            f"Origin: http://127.0.0.1:{port}",
            f"Cookie: {cookie}",
        ]
        lines += [
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
        ]
        self.link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self._more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(f"/ws answered {head[:80]!r}")
        while b'"hello"' not in self.rest:
            self.rest += self._more()
        self.bytes_heard = 0

    def hear(self) -> bool:
        """Take what came; whether the socket is still open."""
        try:
            piece = self._more()
        except (OSError, RuntimeError):
            return False
        self.bytes_heard += len(piece)
        self.rest += piece
        while (frame := _frame(self.rest)) is not None:
            kind, body, self.rest = frame
            if kind == PING:
                self.link.sendall(bytes([0x80 | PONG, 0x80 | len(body), 0, 0, 0, 0]) + body)
        return True

    def _more(self) -> bytes:
        piece = self.link.recv(65_536)
        if not piece:
            raise RuntimeError("the page was closed by the server")
        return piece


def _frame(data: bytes) -> tuple[int, bytes, bytes] | None:
    """The first frame of a server (RFC 6455 section 5.2), unmasked, and what follows; None for a part of one."""
    if len(data) < 2:
        return None
    size, start = data[1] & 0x7F, 2
    if size >= 126:
        width = 2 if size == 126 else 8
        start += width
        size = int.from_bytes(data[2:start])
    if len(data) < start + size:
        return None
    return data[0] & 0x0F, data[start : start + size], data[start + size :]


@contextmanager
def open_pages(port: int, cookies: list[str]) -> Iterator[list[str]]:
    """Two hundred open pages of these sessions. The list gets a sentence for each page that was closed on the way."""
    pages = [Page(port, cookies[number % len(cookies)]) for number in range(PAGES)]
    ending, complaints = Event(), list[str]()
    listener = Thread(target=_listen, args=(pages, ending, complaints))
    listener.start()
    try:
        yield complaints
    finally:
        ending.set()
        listener.join()
        for page in pages:
            with suppress(OSError):
                page.link.close()
    if not all(page.bytes_heard for page in pages):
        complaints.append("some pages heard nothing")


def _listen(pages: list[Page], ending: Event, complaints: list[str]) -> None:
    with selectors.DefaultSelector() as selector:
        for page in pages:
            selector.register(page.link, selectors.EVENT_READ, page)
        while not ending.is_set():
            for key, _ in selector.select(0.2):
                if not key.data.hear():
                    selector.unregister(key.fileobj)
                    complaints.append("a page was closed by the server")
