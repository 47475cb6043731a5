"""The wire between the server and PostgreSQL, which can be cut just before a COMMIT or just after it.

Nothing is imitated: bytes go through a real socket to the real server, until one connection is closed.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import connection

_COMMIT = b"COMMIT\x00"
"""How both sides spell it: the query of the client, and the tag of the server's answer."""
PATIENCE_SECONDS = 60.0


class Wire:
    """Forwards connections. ``cut`` is empty, or ``before`` or ``after`` for the next COMMIT."""

    def __init__(self, host: str, port: int) -> None:
        self.cut, self.cuts = "", 0
        self._server = host, port
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """No new connections."""
        self._door.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                server = socket.create_connection(self._server)
                for ends in ((client, server, "before"), (server, client, "after")):
                    for end in ends[:2]:
                        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=self._forward, args=ends, daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket, when: str) -> None:
        with suppress(OSError):
            while message := source.recv(65_536):
                if self.cut == when and _COMMIT in message:
                    self.cut, self.cuts = "", self.cuts + 1
                    break
                target.sendall(message)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def wired() -> Iterator[Wire]:
    """This thread's connection to the test database goes over a wire that can be cut."""
    at = connection.settings_dict
    host, port = at["HOST"] or "127.0.0.1", at["PORT"]
    wire = Wire(str(host), int(port or 5432))
    connection.close()
    at["HOST"], at["PORT"] = "127.0.0.1", str(wire.port)
    try:
        yield wire
    finally:
        connection.close()
        at["HOST"], at["PORT"] = host, port
        wire.close()


def the_cut_one_has_ended() -> None:
    """Wait until the server has noticed: until then the transaction is open, and its key IN_PROGRESS."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND xact_start IS NOT NULL"
            )
            if cursor.fetchone() == (0,):
                return
    raise AssertionError("a transaction whose client is gone is still open")
