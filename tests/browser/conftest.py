"""A really started `web` and `relay` on the test database, and Chromium in front of them.

The world is committed once a run; tests read it, and what a test changes it makes itself, through
``site.commit(...)``: in a thread of its own, because Playwright keeps an event loop in this one and
because a test's own connection is rolled back.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    TimeoutError,
    expect,
    sync_playwright,
)

from tests.unit.reviews.world import World, fill, make_world, unreviewed

ROOT = Path(__file__).resolve().parent.parent.parent
CHROMIUM = (
    os.environ.get("FENCEPOST_CHROMIUM")
    or shutil.which("chromium")
    or shutil.which("chromium-browser")
    or "/usr/bin/chromium"
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
FLAGS += ["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]
READY_SECONDS = 60
PATIENCE_MS = 30_000
"""How long a page may take on a busy machine before a test gives up."""
DREW_TOO_LATE = [TimeoutError, "Locator expected"]
AT_ONCE = {"test_hostile", "test_injected_races"}
WIDTHS = (390, 1280)
THEMES = ("light", "dark")


@dataclass
class Site:
    """The running server and what is in it."""

    url: str
    world: World
    tasks: dict[str, Any]
    thread: ThreadPoolExecutor
    var: Path

    def commit(self, work: Callable[[], Any]) -> Any:
        """Run ``work`` on a connection that commits; answers what it answers."""
        return self.thread.submit(work).result(30)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here needs the test database, and is begun once more where Chromium did not draw in time.

    What says that nothing is lost, accepted or run fails at once.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.django_db)
            if item.path.stem not in AT_ONCE:
                item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=DREW_TOO_LATE))


@pytest.fixture
def _django_db_helper(django_db_setup: None) -> None:
    """Instead of pytest-django's: no transaction in this thread, whose connection nobody could close again."""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One Chromium for the run."""
    with started_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def started_playwright() -> Iterator[Playwright]:
    """Playwright keeps an event loop in this thread; Django's guard against that would refuse every query."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def site(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory, chromium: Browser
) -> Iterator[Site]:
    """`web` and `relay` on a free port, with the world committed; anew for each file, which begins with the same."""
    with django_db_blocker.unblock(), ThreadPoolExecutor(1) as thread:
        world, tasks = thread.submit(committed_world).result(60)
        port = free_port()
        var = tmp_path_factory.mktemp("var")
        environment = environment_of(port, var)
        subprocess.run(
            [sys.executable, "manage.py", "collectstatic", "--noinput", "-v0"],
            cwd=ROOT,
            env=environment,
            check=True,
        )
        web = [
            sys.executable,
            "-m",
            "uvicorn",
            "config.asgi:application",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--log-level",
            "warning",
        ]
        processes = [
            start(web, environment, var / "web.log"),
            start([sys.executable, "manage.py", "relay"], environment, var / "relay.log"),
        ]
        try:
            wait_until_ready(f"http://127.0.0.1:{port}/healthz", processes[0], var / "web.log")
            yield Site(f"http://127.0.0.1:{port}", world, tasks, thread, var)
        finally:
            for process in processes:
                stop(process)
            thread.submit(lambda: connection.close()).result(10)


def committed_world() -> tuple[World, dict[str, Any]]:
    """An empty test database, then the world of the page tests."""
    name = connection.settings_dict["NAME"]
    assert str(name).startswith("test"), f"{name} is no test database"
    call_command("flush", interactive=False, verbosity=0)
    world = make_world()
    tasks = fill(world)
    unreviewed(world)
    return world, tasks


def environment_of(port: int, var: Path) -> dict[str, str]:
    """The environment of the started processes: production settings on the test database."""
    there = connection.settings_dict
    host, password = there["HOST"] or "127.0.0.1", there["PASSWORD"]
    database = f"postgresql://{there['USER']}:{password}@{host}:{there['PORT']}/{there['NAME']}"
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "FENCEPOST_DATABASE_URL": database,
        "FENCEPOST_VAR": str(var),
        "FENCEPOST_REPOSITORIES": str(var / "repositories"),
        "FENCEPOST_EVIDENCE_URL": f"file://{var}/evidence",
        "FENCEPOST_URL": f"http://127.0.0.1:{port}",
        "FENCEPOST_ENVIRONMENT_NAME": "harbor-test",
        "FENCEPOST_LOG_LEVEL": "WARNING",
        "FENCEPOST_WEB_THREADS": "8",
    }


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(command: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    """A process in a session of its own, its output in a file."""
    with log.open("wb") as out:
        return subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """End it and its children."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until the server answers; fails with its log when it ended or took too long."""
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)  # the port is not bound yet: there is nothing else to wait on
    pytest.fail(f"web did not start:\n{log.read_text()[-3000:]}")


def session_cookie(person: User) -> str:
    """A session of this person, as signing in makes it."""
    store = import_module(settings.SESSION_ENGINE).SessionStore()
    store[SESSION_KEY] = str(person.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = person.get_session_auth_hash()
    store.create()
    return str(store.session_key)


Open = Callable[..., Page]


@pytest.fixture
def open_page(site: Site, chromium: Browser) -> Iterator[Open]:
    """``open_page("/board", who=ines, width=390, theme="dark", script=False)``: a page in a browser of its own.

    Fails the test when the page logged an error: a refused script, a style against the policy, an exception.
    """
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def opened(
        path: str, who: User | None = None, width: int = 1280, theme: str = "light", script: bool = True
    ) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,  # type: ignore[arg-type]
            java_script_enabled=script,
            base_url=site.url,
        )
        contexts.append(context)
        if who is not None:
            cookie = site.commit(partial(session_cookie, who))
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": site.url}])
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(path)
        return page

    opened.errors = errors  # type: ignore[attr-defined]
    yield opened
    for context in contexts:
        context.close()
    unexpected = [text for text in errors if "status of 4" not in text]
    assert not unexpected, unexpected
