"""Prints what the Tab key reaches on a page of the workspace: keyboard.py /billing?customer=new."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from devtools import Browser
from photograph import serving, walk


def main(page: str) -> None:
    """One line for each stop, in order."""
    with serving(Path.cwd()) as address, Browser(os.environ["FENCEPOST_CHROMIUM"]) as browser:
        stops = walk(browser, address + page)
    print(f"Tab through {page}")
    for number, stop in enumerate(stops, start=1):
        print(f"{number:3}  {stop}")


if __name__ == "__main__":
    main(sys.argv[1])
