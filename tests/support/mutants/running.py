"""A copy of the tree from which one check at a time is taken out, and the tests run there.

Promises: nobody's working tree is touched; a mutant is killed only by a test that was green
before. Each run is a forked process that has imported the libraries already and nothing of ours,
so that a run costs its tests and little else.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from multiprocessing.connection import Connection
from pathlib import Path

import django
import pytest
from django.db import connection

from tests.support.mutants.mutant import ROOT, Mutant
from tests.support.mutants.tables import tables_without

OURS = ("agents", "bench", "claims", "client", "config", "reviews", "tests")
COPIED = (*OURS, "docs", "scripts", "static", "templates", "manage.py", "pyproject.toml")
LIBRARIES = (
    "celery",
    "channels.layers",
    "django.contrib.postgres.fields",
    "django.core.management",
    "django.db.backends.postgresql.base",
    "django.template.defaulttags",
    "django.test.client",
    "orjson",
    "pgtrigger",
    "psycopg",
    "pydantic",
    "structlog",
)
DATABASE = f"{os.environ.get('FENCEPOST_TEST_DATABASE') or 'test_fencepost'}_mutants"
SECONDS = 300
"""A run that takes longer hangs: a lock that was taken out can leave a test waiting for ever."""

HANGS = "a test that waited for ever"

Answer = tuple[int, list[str]]
"""An exit code, and the tests that failed."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How pytest ended, and the tests that failed. ``code`` is None for a run that hung."""

    code: int | None
    failed: tuple[str, ...]
    said: str

    @property
    def killer(self) -> str | None:
        """The first test that failed; None where every test was green."""
        if self.code is None:
            return HANGS
        if self.code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise RuntimeError(f"the tests did not run\n{self.said[-3000:]}")
        return self.failed[0] if self.failed else None


class Tree:
    """A copy of the tree in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._red: set[str] = set()
        for name in LIBRARIES:
            importlib.import_module(name)
        for plugin in entry_points(group="pytest11"):
            plugin.load()

    def make_tables(self) -> None:
        """A new database for the tests of this tree."""
        self._fork(_make_tables, SECONDS)

    def red_as_it_is(self, tests: Sequence[str]) -> frozenset[str]:
        """Which of these tests fail with nothing taken out: they prove nothing, and are left out from now on."""
        if not tests:
            return frozenset()
        ran = self._run(tests, "--reuse-db")
        if ran.killer == HANGS:
            raise RuntimeError(f"the tests hang as they are\n{ran.said[-3000:]}")
        self._red |= set(ran.failed)
        return frozenset(ran.failed)

    def run_without(self, mutant: Mutant, tests: Sequence[str]) -> Ran:
        """Take one check out and run tests, up to the first that fails."""
        with self._without(mutant), tables_without(mutant, DATABASE):
            return self._run(tests, "-x", "--reuse-db", is_mutant=True)

    @contextmanager
    def _without(self, mutant: Mutant) -> Iterator[None]:
        path = self.folder / mutant.path
        before, times = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(mutant.taken_out(before), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(before, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _run(self, tests: Sequence[str], *options: str, is_mutant: bool = False) -> Ran:
        left_out = [f"--deselect={test}" for test in sorted(self._red)]
        words = ["-q", "-p", "no:cacheprovider", *options, *left_out]
        answer, said = self._fork(partial(_pytest, words, tests, is_mutant), SECONDS)
        code, failed = answer or (None, [])
        return Ran(code, tuple(failed), said)

    def _fork(self, work: Callable[[], Answer], seconds: int) -> tuple[Answer | None, str]:
        """Do something in a forked process with the modules of the copy: its answer, None where it
        took too long, and what it printed."""
        forking = multiprocessing.get_context("fork")
        ours, theirs = forking.Pipe(duplex=False)
        output = self.folder / "output.txt"
        child = forking.Process(target=_forked, args=(self.folder, output, work, theirs))
        child.start()
        theirs.close()
        answer = _received(ours) if ours.poll(seconds) else None
        if answer is None:
            child.kill()
        child.join()
        return answer, output.read_text(encoding="utf-8", errors="replace")


@contextmanager
def a_tree() -> Iterator[Tree]:
    """A copy of the working tree as it is now."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        ignored = shutil.ignore_patterns("__pycache__", "node_modules")
        for each in COPIED:
            source, target = ROOT / each, Path(folder) / each
            if source.is_dir():
                shutil.copytree(source, target, ignore=ignored)
            else:
                shutil.copy2(source, target)
        tree = Tree(Path(folder))
        tree.make_tables()
        yield tree


class _Watching:
    """A plugin that keeps the names of the tests that failed, and the order in which files were named.

    A tier names its quickest tests first; those that need tables are not to come before them.
    """

    def __init__(self, tests: Sequence[str]) -> None:
        self.failed: list[str] = []
        self._tests = list(tests)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self._place(item.nodeid))

    def _place(self, test: str) -> int:
        return next(
            (place for place, named in enumerate(self._tests) if test.startswith(named)), len(self._tests)
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)


def _received(pipe: Connection) -> Answer:
    try:
        code, failed = pipe.recv()
    except EOFError:
        return int(pytest.ExitCode.INTERNAL_ERROR), []
    return code, failed


def _forked(folder: Path, output: Path, work: Callable[[], Answer], pipe: Connection) -> None:
    """In the forked process: forget our modules, so that those of the copy are imported."""
    with output.open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    os.chdir(folder)
    sys.path[:] = [str(folder), *(path for path in sys.path if Path(path or ".").resolve() != ROOT)]
    os.environ["FENCEPOST_TEST_DATABASE"] = DATABASE
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    importlib.invalidate_caches()
    pipe.send(work())
    sys.stdout.flush()
    os._exit(0)


def _pytest(words: Sequence[str], tests: Sequence[str], is_mutant: bool) -> Answer:
    sys.dont_write_bytecode = is_mutant
    watching = _Watching(tests)
    code = pytest.main([*words, *tests], plugins=[watching])
    return int(code), watching.failed


def _make_tables() -> Answer:
    django.setup()
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    return 0, []
