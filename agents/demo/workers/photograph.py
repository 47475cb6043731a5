"""Screenshots and keyboard walks of the workspace's own server, really running on a free port."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from devtools import Browser, BrowserFailed

MOST_STOPS = 40
PR_SET_PDEATHSIG = 1


def end_with_the_agent() -> None:
    """Asks Linux to end the server when the agent is killed, so that none is left listening (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextlib.contextmanager
def serving(workspace: Path) -> Iterator[str]:
    """The address of the workspace's server.py for as long as the with statement lasts. Raises BrowserFailed."""
    server = subprocess.Popen(
        [sys.executable, "-B", "server.py", "--port", "0"],
        cwd=workspace,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=end_with_the_agent if sys.platform == "linux" else None,
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if not address.startswith("http://"):
            raise BrowserFailed("server.py did not say where it listens")
        yield "/".join(address.split("/")[:3])
    finally:
        server.terminate()
        server.wait(5)


def png_width(png: bytes) -> int:
    """The width that the PNG's own header states (PNG specification, IHDR)."""
    if png[:8] != b"\x89PNG\r\n\x1a\n":
        raise BrowserFailed("the screenshot is not a PNG")
    return int.from_bytes(png[16:20], "big")


def take(browser: Browser, address: str, width: int, target: Path) -> None:
    """One screenshot; a width other than the one asked for is an error, not a smaller picture."""
    browser.open(address, width)
    png = browser.screenshot(width)
    if png_width(png) != width:
        raise BrowserFailed(f"{address} came out {png_width(png)} px wide, not {width}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(png)


def walk(browser: Browser, address: str, width: int = 1280) -> list[str]:
    """What Tab reaches, in order, until the focus leaves the page or comes round again."""
    browser.open(address, width)
    stops: list[str] = []
    while len(stops) < MOST_STOPS:
        stop = browser.tab()
        if not stop or stop in stops[:1]:
            return stops
        stops.append(stop)
    return stops
