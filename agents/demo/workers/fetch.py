"""Prints the answer of the workspace's server to a GET: fetch.py /settings [text of the line to begin with]."""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from pathlib import Path

from photograph import serving

MOST_LINES = 60


def main(page: str, begin: str = "") -> None:
    """Status and headers but the date, an empty line, the body from the line on that has the text."""
    with serving(Path.cwd()) as address:
        try:
            answer = urllib.request.urlopen(address + page, timeout=10)
        except urllib.error.HTTPError as refused:
            answer = refused
        body = answer.read().decode(errors="replace").splitlines()
    print(f"GET {page}\n{answer.status} {answer.reason}")
    for name, value in answer.headers.items():
        if name not in ("Date", "Server"):
            print(f"{name}: {value}")
    first = next((place for place, line in enumerate(body) if begin in line), 0)
    shown = [line for line in body[first : first + MOST_LINES] if line.strip()]
    print("", *([f"… {first} lines before"] if first else []), *shown, sep="\n")
    if len(body) > first + MOST_LINES:
        print(f"… {len(body) - first - MOST_LINES} lines after")


if __name__ == "__main__":
    main(*sys.argv[1:])
