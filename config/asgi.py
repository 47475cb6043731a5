"""The ASGI application of `web`: one port for sockets, pages and API.

`/ws` goes to Channels; everything else runs on Django's WSGI handler in a pool of threads through
a2wsgi, because Django's own ASGI handler answered a tenth as many requests on the same machine.
Requests that may wait for news (long polls) have a pool of their own.
"""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from a2wsgi import WSGIMiddleware

from config.wsgi import application as _wsgi

# Importing the WSGI application above set Django up; what follows needs its applications.
from channels.auth import AuthMiddlewareStack  # isort: skip
from channels.routing import URLRouter  # isort: skip
from channels.security.websocket import AllowedHostsOriginValidator  # isort: skip

from claims.live.routing import websocket_urlpatterns  # isort: skip

THREADS = 16
LONG_POLL_THREADS = 32

wsgi_application: Any = _wsgi
_pages: Any = WSGIMiddleware(wsgi_application, workers=THREADS)
_polls: Any = WSGIMiddleware(wsgi_application, workers=LONG_POLL_THREADS)
_sockets: Any = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Dispatch one connection by its kind."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
    elif scope["type"] == "websocket":
        await _sockets(scope, receive, send)
    elif may_wait(scope):
        await _polls(scope, receive, send)
    else:
        await _pages(scope, receive, send)


def may_wait(scope: dict[str, Any]) -> bool:
    """Whether this request may be held open for news (`waitSeconds`).

    Those have threads of their own, so that a hundred patient agents never keep a page from anyone.
    """
    path: str = scope["path"]
    if not path.startswith("/api/v1/"):
        return False
    return path.endswith("/claim-next") or b"waitSeconds=" in scope.get("query_string", b"")


async def _live(receive: Any, send: Any) -> None:
    """Answer the server's start and stop; nothing of Fencepost is kept in process memory."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return
