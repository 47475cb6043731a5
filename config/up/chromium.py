"""Where a Chromium of this machine is, for agents' screenshots and for browser tests."""

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell")


def found_chromium() -> str | None:
    """The path of a Chromium: FENCEPOST_CHROMIUM, else the first of the usual names on PATH."""
    named = os.environ.get("FENCEPOST_CHROMIUM", "").strip()
    if named:
        return named
    return next((path for name in NAMES if (path := shutil.which(name))), None)
