"""The data folder: its lock, its secrets, the environment of the programs, and beginning anew."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from config.up.chromium import found_chromium
from config.up.environment import ROOT
from config.up.servers import Postgres, Valkey, kept_secret
from config.up.supervisor import Failed

MARK = "fencepost-data"
KEPT_ON_RESET = {MARK, "lock", "test"}


def lock(data: Path) -> int:
    """Hold the folder for as long as this process lives. Raises Failed when another one does."""
    try:
        held = os.open(data / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Failed(
            f"The data folder {data} is in use by another Fencepost; choose one with --data."
        ) from None
    except OSError as error:
        raise Failed(f"The data folder {data} cannot be used: {error.strerror}.") from None
    return held


def settle(data: Path, *, reset: bool) -> None:
    """Mark a new folder as Fencepost's; on `reset` delete what is in a marked one. Raises Failed."""
    mark = data / MARK
    strangers = [path for path in data.iterdir() if path.name not in KEPT_ON_RESET]
    if strangers and not mark.exists():
        raise Failed(
            f"The folder {data} is not empty and is no data folder of Fencepost; nothing was touched."
        )
    mark.write_text("Data of Fencepost. `scripts/up --reset` deletes what is in this folder.\n")
    if reset:
        for path in strangers:
            _delete(path)
    for name in ("run", "log", "evidence", "repositories", "workspaces"):
        (data / name).mkdir(mode=0o700, exist_ok=True)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def servers(data: Path, *, for_tests: bool = False) -> tuple[Postgres, Valkey]:
    """The two servers of this folder, initialised and ready to be started. Raises Failed."""
    secrets = data / "secrets"
    postgres = Postgres(data / "postgres", kept_secret(secrets / "postgres"), for_tests=for_tests)
    postgres.initialise()
    postgres.make_database()
    valkey = Valkey(data / "valkey", kept_secret(secrets / "valkey"))
    valkey.write_configuration()
    return postgres, valkey


def environment(data: Path, postgres: Postgres, valkey: Valkey, url: str) -> dict[str, str]:
    """The environment of every program: the caller's own, with Fencepost's variables laid over it."""
    venv_bin = str(ROOT / ".venv" / "bin")
    chromium = found_chromium()
    ours = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "FENCEPOST_DATABASE_URL": postgres.url,
        "FENCEPOST_REDIS_URL": valkey.url(0),
        "FENCEPOST_BROKER_URL": valkey.url(1),
        "FENCEPOST_EVIDENCE_URL": f"file://{data / 'evidence'}",
        "FENCEPOST_REPOSITORIES": str(data / "repositories"),
        "FENCEPOST_SECRET_KEY": kept_secret(data / "secrets" / "django"),
        "FENCEPOST_URL": url,
        "FENCEPOST_ALLOWED_HOSTS": "127.0.0.1,localhost",
        "FENCEPOST_VAR": str(data),
        "PATH": f"{os.environ.get('PATH', os.defpath)}:{venv_bin}",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
    }
    if chromium:
        ours["FENCEPOST_CHROMIUM"] = chromium
    return {**os.environ, **ours}


def static_stamp(environment: Mapping[str, str]) -> tuple[Path, str]:
    """Where the stamp of collected static files is, and what it says when they are up to date."""
    digest = hashlib.sha256((ROOT / "requirements" / "base.txt").read_bytes())
    for path in sorted((ROOT / "static").rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return Path(environment["FENCEPOST_VAR"]) / "static.stamp", digest.hexdigest()
