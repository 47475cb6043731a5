"""The inner process of `scripts/up`: it is the parent of every server and program."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from config.up import data as folder
from config.up import manage, table
from config.up import options as asked
from config.up.environment import ROOT
from config.up.supervisor import Failed, Stopped, Supervisor

MIGRATION_STATEMENT_MS = "600000"


def launch(options: asked.Options, python: Path) -> int:
    """Start everything, say so, keep it up, end it. Returns the exit status."""
    port = asked.check_port(options.port)
    asked.check_ready_file(options.ready_file)
    held = folder.lock(options.data)
    folder.settle(options.data, reset=options.reset)
    postgres, valkey = folder.servers(options.data)
    url = f"http://127.0.0.1:{port}"
    supervisor = Supervisor(options.data, folder.environment(options.data, postgres, valkey, url), say)
    try:
        supervisor.start(postgres.program(), valkey.program())
        credentials = prepare(supervisor, options, python)
        supervisor.start(
            *table.programs(python, options.data, port, agents=options.agents, demo=options.demo)
        )
        write_private(manage.note(options.data), manage.written(supervisor.environment))
        announce(url, options, credentials)
        supervisor.run()
        say("Stopping.")
        return 0
    except Stopped:
        return 0
    finally:
        supervisor.stop()
        manage.note(options.data).unlink(missing_ok=True)
        if options.ready_file is not None:
            options.ready_file.unlink(missing_ok=True)
        os.close(held)


def prepare(supervisor: Supervisor, options: asked.Options, python: Path) -> dict[str, Any]:
    """Migrations, static files, and the first people. Returns the credentials there are to tell."""
    argv = [str(python), str(ROOT / "manage.py"), "prepare"]
    stamp, wanted = folder.static_stamp(supervisor.environment)
    if not stamp.exists() or stamp.read_text() != wanted:
        argv.append("--static")
    kept = options.data / "secrets" / ("demo.json" if options.demo else "first-admin.json")
    if options.demo:
        argv += ["--demo"] if options.agents else ["--demo", "--no-agents"]
    else:
        kept.unlink(missing_ok=True)
    slow = {"FENCEPOST_STATEMENT_TIMEOUT_MS": MIGRATION_STATEMENT_MS}
    supervisor.step("prepare", [*argv, "--credentials", str(kept)], slow)
    stamp.write_text(wanted)
    if options.demo:
        return read_credentials(kept)
    credentials = read_credentials(kept) if kept.exists() else {}
    kept.unlink(missing_ok=True)
    return credentials


def read_credentials(path: Path) -> dict[str, Any]:
    """What a command wrote: `users` and `tokens`. Raises Failed when it wrote nothing readable."""
    try:
        read = json.loads(path.read_text())
    except (OSError, ValueError):
        raise Failed(f"The credentials file {path} was not written.") from None
    return read if isinstance(read, dict) else {}


def announce(url: str, options: asked.Options, credentials: dict[str, Any]) -> None:
    """Print the one address and the sign-ins, and write the ready file for its owner alone."""
    users = credentials.get("users", {})
    told = {"url": url, "apiUrl": f"{url}/api/v1", "users": users, "tokens": credentials.get("tokens", {})}
    if options.ready_file is not None:
        write_private(options.ready_file, json.dumps(told, indent=2) + "\n")
    say(f"Fencepost is ready at {url}")
    for role, user in users.items():
        say(f"  {role:<10} {user['name']} / {user['password']}")
    if users and not options.demo:
        say(f"  This password is shown once; change it after signing in, at {url}/account/password.")
    say(f"Logs are in {options.data / 'log'}; Ctrl-C ends everything.")


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)


def say(sentence: str) -> None:
    """One line for the person at the terminal; a closed terminal is no reason to end."""
    with contextlib.suppress(OSError):
        print(sentence, flush=True)
