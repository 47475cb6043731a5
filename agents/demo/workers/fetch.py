"""Prints the answer of the workspace's server to a GET, headers and the first lines: fetch.py /export.csv."""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from pathlib import Path

from photograph import serving

MOST_LINES = 40


def main(page: str) -> None:
    """Status and headers but the date, an empty line, the body."""
    with serving(Path.cwd()) as address:
        try:
            answer = urllib.request.urlopen(address + page, timeout=10)  # noqa: S310
        except urllib.error.HTTPError as refused:
            answer = refused
        body = answer.read().decode(errors="replace").splitlines()
    print(f"GET {page}\n{answer.status} {answer.reason}")
    for name, value in answer.headers.items():
        if name not in ("Date", "Server"):
            print(f"{name}: {value}")
    print("", *body[:MOST_LINES], sep="\n")
    if len(body) > MOST_LINES:
        print(f"… {len(body) - MOST_LINES} more lines")


if __name__ == "__main__":
    main(sys.argv[1])
