"""The options of `scripts/up`, and the checks of them that need nothing to be started."""

from __future__ import annotations

import argparse
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from config.up.environment import ROOT
from config.up.supervisor import Failed


@dataclass(frozen=True)
class Options:
    """What the user asked for; paths are absolute."""

    port: int
    data: Path
    reset: bool
    ready_file: Path | None
    agents: bool
    demo: bool


def parse(arguments: list[str]) -> Options:
    """Read the command line; argparse ends the process with a sentence on a bad one."""
    parser = argparse.ArgumentParser("scripts/up", description="Starts Fencepost on this machine.")
    parser.add_argument("--port", type=int, default=8000, help="port of the one address (default 8000)")
    parser.add_argument("--data", default=str(ROOT / "var"), metavar="DIR", help="data folder (default var/)")
    parser.add_argument("--reset", action="store_true", help="delete the data and begin anew")
    parser.add_argument("--ready-file", metavar="FILE", help="JSON written once everything answers")
    parser.add_argument("--no-agents", action="store_true", help="run no agent attempts on this machine")
    parser.add_argument("--demo", action="store_true", help="add a demo: two pools, real tasks, agents")
    given = parser.parse_args(arguments)
    if not 0 <= given.port <= 65535:
        parser.error("--port must lie between 0 and 65535.")
    came_from = Path(os.environ.get("FENCEPOST_CALLED_FROM", os.getcwd()))
    ready = (came_from / given.ready_file).absolute() if given.ready_file else None
    data = Path(os.path.abspath(came_from / given.data))
    return Options(given.port, data, given.reset, ready, not given.no_agents, given.demo)


def check_port(port: int) -> int:
    """The port to serve on, chosen when it is 0. Raises Failed when somebody listens there."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except PermissionError:
            raise Failed(
                f"Port {port} needs more rights than this user has; choose one with --port."
            ) from None
        except OSError:
            raise Failed(f"Port {port} is taken; choose another with --port.") from None
        return int(listener.getsockname()[1])


def check_folder(data: Path) -> None:
    """Make the data folder, private to its owner. Raises Failed when it cannot be used."""
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
    except FileExistsError:
        raise Failed(f"The data folder {data} is not a folder.") from None
    except OSError as error:
        raise Failed(f"The data folder {data} cannot be made: {error.strerror}.") from None
    if not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        raise Failed(f"The data folder {data} cannot be read and written by this user.")
    if any(letter in str(data) for letter in "\n\"'\\"):
        raise Failed("The path of the data folder must hold no quotes, backslashes or line breaks.")


def check_ready_file(ready_file: Path | None) -> None:
    """Remove an old ready file. Raises Failed when the new one could not be written."""
    if ready_file is None:
        return
    if ready_file.is_dir() or not os.access(ready_file.parent, os.W_OK):
        raise Failed(f"The ready file {ready_file} cannot be written.")
    ready_file.unlink(missing_ok=True)
