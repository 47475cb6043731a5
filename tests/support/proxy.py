"""A TCP proxy before PostgreSQL that breaks the link at a chosen word of the protocol.

What a client sends in one piece is one message here: a driver writes a statement, or a pipeline of them, at
once. A cut happens before a message reaches the server, or after the server has answered it and before
the client hears of that.
"""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.db import connection

MOST_BYTES = 1 << 20
ANSWER_SECONDS = 5.0
PAUSE_SECONDS = 0.1
READY = b"Z\x00\x00\x00\x05"
SYNC = b"S\x00\x00\x00\x04"
COMMIT = b"COMMIT\x00"
LOGIN = (0, ord("p"))
"""How messages of a login begin: without a type, or with a password."""


def _nothing() -> None:
    """Nothing happens beside the cut."""


@dataclass(frozen=True)
class Cut:
    """Break the link at a message for which ``is_it`` is true, once.

    ``arrives``: the server gets the message, and its answer is thrown away. ``stays_down``: nobody is
    let through afterwards until ``mend``. ``then`` is called before the client notices anything.
    """

    is_it: Callable[[bytes], bool]
    arrives: bool
    stays_down: bool = False
    then: Callable[[], None] = _nothing


@dataclass
class Proxy:
    """A running proxy. ``cuts`` counts the links that were broken on purpose."""

    port: int
    server: tuple[str, int]
    cuts: int = 0
    is_down: bool = False
    _cut: Cut | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arm(self, cut: Cut) -> None:
        """The next message that fits is where the link breaks."""
        with self._lock:
            self._cut = cut

    def mend(self) -> None:
        """Let everybody through again, and break nothing."""
        with self._lock:
            self._cut, self.is_down = None, False

    def serve(self, client: socket.socket) -> None:
        """One connection, until either side ends it or it is cut."""
        with client:
            if self.is_down:
                return
            with socket.create_connection(self.server) as server:
                while self._pass_on(client, server):
                    continue

    def _pass_on(self, client: socket.socket, server: socket.socket) -> bool:
        """Carry the next piece of either side over; whether there may be more."""
        ready, _, _ = select.select([client, server], [], [])
        for source, target in ((server, client), (client, server)):
            if source not in ready:
                continue
            piece = _received(source)
            cut = self._taken(piece) if source is client and piece else None
            if cut is not None:
                _break(cut, piece, server)
            if cut is not None or not piece or not _sent(target, piece):
                return False
        return True

    def _taken(self, message: bytes) -> Cut | None:
        """The armed cut, if this is where it belongs."""
        with self._lock:
            cut = self._cut
            if cut is None or message[0] in LOGIN or not cut.is_it(message):
                return None
            self._cut, self.is_down = None, cut.stays_down
            self.cuts += 1
            return cut


def _break(cut: Cut, message: bytes, server: socket.socket) -> None:
    answer = b""
    if cut.arrives and _sent(server, message):
        is_answered = message.startswith(b"Q") or message.endswith(SYNC)
        server.settimeout(ANSWER_SECONDS if is_answered else PAUSE_SECONDS)
        while answer[-6:-1] != READY:
            piece = _received(server)
            answer += piece
            server.settimeout(PAUSE_SECONDS)
            if not piece:
                break
    cut.then()


def _received(link: socket.socket) -> bytes:
    try:
        return link.recv(MOST_BYTES)
    except OSError:
        return b""


def _sent(link: socket.socket, piece: bytes) -> bool:
    try:
        link.sendall(piece)
    except OSError:
        return False
    return True


@contextmanager
def proxied() -> Iterator[Proxy]:
    """A proxy before the server that Django's connection uses."""
    settings = connection.settings_dict
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(listener.getsockname()[1], (settings["HOST"], int(settings["PORT"])))
        accepting = threading.Thread(target=_accept, args=(listener, proxy), daemon=True)
        accepting.start()
        try:
            yield proxy
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join(10)


def _accept(listener: socket.socket, proxy: Proxy) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=proxy.serve, args=(client,), daemon=True).start()


@contextmanager
def through(proxy: Proxy) -> Iterator[None]:
    """Django's connection of this process goes through the proxy."""
    settings = connection.settings_dict
    before = settings["PORT"]
    connection.close()
    settings["PORT"] = str(proxy.port)
    try:
        yield
    finally:
        proxy.mend()
        connection.close()
        settings["PORT"] = before
