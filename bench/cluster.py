"""The PostgreSQL cluster of the measures: the product's own, with a socket for pgbench and eyes on the WAL.

Promises: `fsync`, `synchronous_commit` and `full_page_writes` are on, and everything that is not named
here is as `scripts/up` runs it. Checkpoints are kept out of the slices, of the floor's as of the product's.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from urllib.parse import quote

from config.up import data as folder
from config.up.servers import DATABASE, ROLE, Postgres
from config.up.supervisor import Failed, Program

SOCKET_BYTES = 92
SETTINGS = {
    "synchronous_commit": "on",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "1h",
    "unix_socket_permissions": "0777",  # its folder is closed; the password is asked for all the same
}
RIGHTS = f"""CREATE EXTENSION IF NOT EXISTS pg_walinspect
GRANT pg_read_server_files, pg_checkpoint, pg_monitor TO {ROLE}
GRANT ALTER SYSTEM ON PARAMETER full_page_writes, autovacuum TO {ROLE}
GRANT EXECUTE ON FUNCTION pg_reload_conf() TO {ROLE}
"""


class MeasuredPostgres(Postgres):
    """The cluster of one run."""

    @property
    def socket_folder(self) -> str:
        """Where pgbench finds the socket; empty where the path is too long for one."""
        return str(self.folder) if len(str(self.folder)) <= SOCKET_BYTES else ""

    @property
    def url(self) -> str:
        """The URL of the product's own connections: through the same socket as the floor's."""
        place = quote(self.socket_folder, safe="") or "127.0.0.1"
        return f"postgresql://{ROLE}:{self.password}@{place}:{self.port}/{DATABASE}"

    def open_for_measuring(self) -> None:
        """Let the role read WAL and call checkpoints. It stays no superuser. The server must not run."""
        (self.folder / "pg_hba.conf").write_text(
            "host all all 127.0.0.1/32 scram-sha-256\nlocal all all scram-sha-256\n"
        )
        argv = [str(self.bin / "postgres"), "--single", "-D", str(self.folder), DATABASE]
        done = subprocess.run([*self._shim(), *argv], input=RIGHTS, capture_output=True, text=True)
        complaints = [line for line in done.stderr.splitlines() if "ERROR" in line or "FATAL" in line]
        if done.returncode != 0 or complaints:
            raise Failed(f"PostgreSQL could not be opened for measuring: {complaints or done.stderr}.")

    def program(self) -> Program:
        """The product's line of the process table, with the settings above."""
        line = super().program()
        argv = list(line.argv)
        for name, value in (SETTINGS | {"unix_socket_directories": self.socket_folder}).items():
            argv += ["-c", f"{name}={value}"]
        line.argv = argv
        return line

    def client_environment(self) -> dict[str, str]:
        """libpq's variables for pgbench and psql, and where these programs are."""
        return {
            "PGHOST": self.socket_folder or "127.0.0.1",
            "PGPORT": str(self.port),
            "PGUSER": ROLE,
            "PGDATABASE": DATABASE,
            "PGPASSWORD": self.password,
            "BENCH_POSTGRES_BIN": str(self.bin),
        }


def start_folder(data: Path) -> int:
    """An empty data folder under lock. Raises Failed when another run holds it."""
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    held = folder.lock(data)
    folder.settle(data, reset=True)
    return held
