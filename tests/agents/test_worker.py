"""A real Celery worker, killed in the middle of a run and started again."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import pytest
from celery import Celery
from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from redis import Redis

from agents.models import AttemptRun
from claims.models import Attempt
from tests.agents.conftest import EDIT, Workers

ROOT = Path(__file__).parents[2]
LONGEST_SECONDS = 120
OWN_BROKER_DATABASE = "/9"


class Worker:
    """The process of `up` that runs attempts, with a broker database of its own."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.broker = urlunsplit(urlsplit(settings.FENCEPOST_BROKER_URL)._replace(path=OWN_BROKER_DATABASE))
        self.sender = Celery("test", broker=self.broker)
        Redis.from_url(self.broker).flushdb()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        database, folder = connection.settings_dict, self.workers.folder
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "FENCEPOST_DATABASE_URL": (
                f"postgresql://{quote(database['USER'])}:{quote(database['PASSWORD'])}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
            ),
            "FENCEPOST_BROKER_URL": self.broker,
            "FENCEPOST_VAR": str(folder / "var"),
            "FENCEPOST_REPOSITORIES": str(folder / "repositories"),
            "FENCEPOST_EVIDENCE_URL": f"file://{folder / 'evidence'}",
        }
        words = [
            "-m",
            "celery",
            "-A",
            "config.celery:app",
            "worker",
            "--queues",
            "attempts",
            "--concurrency",
            "1",
        ]
        words += [
            "--hostname",
            "tested@localhost",
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
        ]
        with (folder / "worker.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *words],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def send(self) -> None:
        """Dispatch here, and send what it finds, as the task `dispatch` does."""
        for attempt_id in self.workers.sent():
            self.sender.send_task("agents.tasks.run_attempt", args=(str(attempt_id),), queue="attempts")

    def kill(self) -> None:
        """End the worker and its pool at once, without a word."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def finish(self) -> None:
        """Let it end what it runs, and take nothing new."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(LONGEST_SECONDS) == 0, (self.workers.folder / "worker.log").read_text()


@pytest.fixture
def worker(workers: Workers) -> Iterator[Worker]:
    """A worker that has not been started; whatever happens it is ended."""
    worker = Worker(workers)
    yield worker
    if worker.process is not None and worker.process.poll() is None:
        worker.kill()


def said_through(pipe: int, log: Path) -> str:
    """The next words in a pipe; fails when none come."""
    with select.epoll() as poll:
        poll.register(pipe, select.EPOLLIN)
        assert poll.poll(LONGEST_SECONDS), log.read_text()
    return os.read(pipe, 1_000).decode()


def ended(pidfd: int) -> bool:
    """Whether a process ends within the time."""
    with select.epoll() as poll:
        poll.register(pidfd, select.EPOLLIN)
        return bool(poll.poll(LONGEST_SECONDS))


def test_a_worker_killed_in_a_run_leaves_nothing_behind_and_another_finishes_the_attempt(
    workers: Workers, worker: Worker
) -> None:
    task = workers.task()
    path, first = workers.folder / "said", workers.folder / "first"
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    workers.does(
        "import time\n"
        f"first = pathlib.Path({str(first)!r})\n"
        "is_first = not first.exists(); first.touch()\n"
        f"pathlib.Path({str(path)!r}).write_text(str(os.getpid()))\n"
        "if is_first: time.sleep(300)\n" + EDIT + "deliver()"
    )
    worker.start()
    worker.send()
    command = int(said_through(pipe, workers.folder / "worker.log"))
    pidfd = os.pidfd_open(command)

    worker.kill()
    assert ended(pidfd), "the command outlived its worker"
    assert workers.state(task) == "CLAIMED"
    AttemptRun.objects.update(heartbeat_at=Now() - timedelta(minutes=1), sent_at=Now() - timedelta(minutes=1))

    worker.start()
    worker.send()
    said_through(pipe, workers.folder / "worker.log")
    worker.finish()
    assert workers.state(task) == "DELIVERED"
    assert Attempt.objects.filter(task_id=task).count() == 1
    assert AttemptRun.objects.get().starts == 2
    os.close(pipe)
    os.close(pidfd)
