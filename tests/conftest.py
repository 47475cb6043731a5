"""What every tier shares: marks by folder, long forms on demand, and no silent skip in CI.

PostgreSQL is real in all tiers. The folder says what a test needs: tests in `race/`, `chaos/` and
`browser/` carry the mark of that name, those in `day/` the mark `chaos`, so that `scripts/test` can run each
tier as it must be run.
"""

import os
from pathlib import Path

import pytest

MARKED_FOLDERS = {"race": "race", "chaos": "chaos", "browser": "browser", "day": "chaos"}
HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by their folder; leave the long forms out unless they are asked for."""
    for item in items:
        folders = item.path.relative_to(HERE).parts if item.path.is_relative_to(HERE) else ()
        for folder in MARKED_FOLDERS.keys() & set(folders):
            item.add_marker(MARKED_FOLDERS[folder])
    if os.environ.get("FENCEPOST_LONG") or "long" in config.getoption("markexpr", ""):
        return
    long_forms = [item for item in items if item.get_closest_marker("long")]
    if long_forms:
        config.hook.pytest_deselected(items=long_forms)
        items[:] = [item for item in items if item not in long_forms]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """In CI a skipped test is a failure: whatever it would have shown was not shown."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("CI") or reporter is None or exitstatus != pytest.ExitCode.OK:
        return
    if reporter.stats.get("skipped"):
        reporter.write_line("Tests were skipped; in CI nothing is.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
