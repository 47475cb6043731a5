"""The JSON API as a process of its own, on the test's database."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
from django.db import connection

from config.up.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90.0


def environment(database_port: int | None = None) -> dict[str, str]:
    """The environment of a program of the product on the test database, reached by another port if need be."""
    settings = connection.settings_dict
    credentials = f"{settings['USER']}:{settings['PASSWORD']}"
    place = f"{settings['HOST']}:{database_port or settings['PORT']}"
    known = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return {
        **known,
        "FENCEPOST_DATABASE_URL": f"postgresql://{credentials}@{place}/{settings['NAME']}",
        "FENCEPOST_ALLOWED_HOSTS": "127.0.0.1",
        "FENCEPOST_API_CALLS_IN_TEN_SECONDS": "1000000",
    }


@contextmanager
def serving(variables: Mapping[str, str]) -> Iterator[str]:
    """The address of an API that runs in one process with eight threads."""
    port = free_port()
    argv = [sys.executable, "-m", "granian", "--interface", "wsgi", "--workers", "1"]
    argv += ["--blocking-threads", "8", "--no-ws", "--port", str(port), "config.wsgi_api:application"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(argv, cwd=ROOT, env=dict(variables), stdout=quiet, stderr=quiet)
    try:
        _wait_until_ready(process, f"http://127.0.0.1:{port}/readyz")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(15)


def _wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(url, timeout=2).is_success:
                return
        except httpx.TransportError:
            _let_it_go_on(process)
    raise AssertionError("the server did not become ready")


def _let_it_go_on(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(0.1)
    except subprocess.TimeoutExpired:
        return
