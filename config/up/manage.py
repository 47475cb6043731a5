"""`python -m config.up.manage`: the entry behind `scripts/manage`.

Runs `manage.py` beside a running `scripts/up`. Ports are chosen anew at each start, so the running one
keeps the environment of its programs in a file that only its owner may read, for as long as it runs.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from config.up.environment import ROOT
from config.up.supervisor import Failed

OTHERS = ("DJANGO_SETTINGS_MODULE", "PYTHONPATH")
OF_THE_CALL = "FENCEPOST_CALLED_FROM"


def main(arguments: list[str]) -> NoReturn:
    """Become `manage.py`, or say in one sentence why not."""
    parser = argparse.ArgumentParser(
        "scripts/manage", description="Runs a command of manage.py beside a running scripts/up."
    )
    parser.add_argument("--data", default=str(ROOT / "var"), metavar="DIR", help="data folder (default var/)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command and its arguments")
    given = parser.parse_args(arguments)
    came_from = Path(os.environ.get(OF_THE_CALL, os.getcwd()))
    try:
        kept = read(Path(os.path.abspath(came_from / given.data)))
    except Failed as failure:
        sys.exit(str(failure))
    become(given.command, came_from, {**os.environ, **kept})


def become(words: list[str], folder: Path, environment: Mapping[str, str]) -> NoReturn:
    """Go on as `manage.py`, in the folder of the caller, so that relative paths mean what they say."""
    os.chdir(folder)
    python = str(ROOT / ".venv" / "bin" / "python")
    os.execve(python, [python, str(ROOT / "manage.py"), *words], environment)  # noqa: S606 - a list of words


def note(data: Path) -> Path:
    """Where the environment is kept while the programs of this folder run."""
    return data / "run" / "environment.json"


def written(environment: Mapping[str, str]) -> str:
    """What is kept of it: Fencepost's variables, whoever set them."""
    kept = {
        name: value
        for name, value in environment.items()
        if (name.startswith("FENCEPOST_") and name != OF_THE_CALL) or name in OTHERS
    }
    return json.dumps(kept, indent=2) + "\n"


def read(data: Path) -> dict[str, str]:
    """The environment of the programs that run on this folder. Raises Failed when none do."""
    try:
        kept: dict[str, str] = json.loads(note(data).read_text())
        server = urlsplit(kept["FENCEPOST_DATABASE_URL"])
        socket.create_connection((server.hostname or "", server.port or 0), timeout=5).close()
    except PermissionError:
        raise Failed(f"The data folder {data} belongs to another user.") from None
    except (OSError, ValueError, KeyError):
        raise Failed(f"Nothing runs on the data folder {data}; start it with scripts/up.") from None
    return kept


if __name__ == "__main__":
    main(sys.argv[1:])
