"""Typed readers of the environment. Every variable Fencepost knows is declared once, in `VARIABLES`.

`read(environment)` answers every variable as a typed value or raises `Misconfigured` with one
sentence that names the variable; it never falls back silently on a value it could not understand.
The table of docs/reference/settings.md is written from `VARIABLES`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured


class Misconfigured(ImproperlyConfigured):
    """One sentence, naming the variable and what it should hold."""


REQUIRED = object()
"""Marks a variable that has no default: Fencepost does not start without it."""


@dataclass(frozen=True)
class Variable:
    """One environment variable: its name, how it is read, its default, what it means."""

    name: str
    read: Callable[[environ.Env, str], Any]
    default: Any
    kind: str
    meaning: str
    example: str = ""


def _text(env: environ.Env, name: str) -> str:
    return str(env.str(name)).strip()


def _secret(env: environ.Env, name: str) -> str:
    value = str(env.str(name))
    if len(value) < 50:
        raise ValueError("must be at least 50 characters of random text")
    return value


def _flag(env: environ.Env, name: str) -> bool:
    word = str(env.str(name)).strip().lower()
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off"}:
        return False
    raise ValueError(f"must be true or false, not {word!r}")


def _whole(minimum: int, maximum: int) -> Callable[[environ.Env, str], int]:
    def read_whole(env: environ.Env, name: str) -> int:
        text = str(env.str(name)).strip()
        if not text.isascii() or not text.isdigit():
            raise ValueError(f"must be a whole number, not {text!r}")
        value = int(text)
        if not minimum <= value <= maximum:
            raise ValueError(f"must lie between {minimum} and {maximum}, not {value}")
        return value

    return read_whole


def _url(*schemes: str) -> Callable[[environ.Env, str], str]:
    def read_url(env: environ.Env, name: str) -> str:
        value = _text(env, name)
        scheme = urlsplit(value).scheme
        if scheme not in schemes:
            raise ValueError(f"must be a URL that starts with {' or '.join(s + '://' for s in schemes)}")
        return value

    return read_url


def _database(env: environ.Env, name: str) -> dict[str, Any]:
    value = _url("postgresql", "postgres")(env, name)
    parts = urlsplit(value)
    if not parts.path.strip("/"):
        raise ValueError("must name a database after the host")
    config = dict(env.db_url_config(value))
    # A host that starts with a slash, percent-encoded in the URL, is the folder of a Unix socket.
    if "%2f" in parts.netloc.lower():
        config["HOST"] = unquote(parts.netloc.rpartition("@")[2].partition(":")[0])
    return config


def _words(env: environ.Env, name: str) -> list[str]:
    return [word.strip() for word in str(env.str(name)).split(",") if word.strip()]


_HOST = re.compile(r"([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?")
_COMMAND_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,119}")


def _hosts(env: environ.Env, name: str) -> list[str]:
    hosts = [word.lower() for word in _words(env, name)]
    for host in hosts:
        if _HOST.fullmatch(host) is None:
            raise ValueError(f"must list hosts such as api.example or api.example:8443, not {host!r}")
    return hosts


def _commands(env: environ.Env, name: str) -> dict[str, list[str]]:
    shape = 'must be a JSON object such as {"check-dns": ["/usr/local/bin/check-dns", "--short"]}'
    try:
        commands = json.loads(str(env.str(name)))
    except ValueError:
        raise ValueError(shape) from None
    if not isinstance(commands, dict):
        raise ValueError(shape)
    for command, argv in commands.items():
        if _COMMAND_NAME.fullmatch(command) is None:
            raise ValueError(f"must name commands in a-z, 0-9, '_', '.', '-', not {command!r}")
        if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv):
            raise ValueError(f"must give the command {command!r} as a list of words")
        if not argv[0].startswith("/") or any("\0" in word for word in argv):
            raise ValueError(f"must begin the command {command!r} with the absolute path of a program")
    return commands


def _folder(env: environ.Env, name: str) -> Path:
    folder = Path(_text(env, name))
    if not folder.is_absolute():
        raise ValueError("must be an absolute path")
    return folder


def _level(env: environ.Env, name: str) -> str:
    word = _text(env, name).upper()
    if word not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
        raise ValueError(f"must be DEBUG, INFO, WARNING or ERROR, not {word!r}")
    return word


def _seconds(minimum: int = 1, maximum: int = 366 * 86400) -> Callable[[environ.Env, str], int]:
    return _whole(minimum, maximum)


_REDIS = _url("redis", "rediss", "unix")

VARIABLES: tuple[Variable, ...] = (
    Variable(
        "FENCEPOST_SECRET_KEY",
        _secret,
        REQUIRED,
        "secret",
        "Signs sessions and forms; at least 50 characters.",
    ),
    Variable(
        "FENCEPOST_DATABASE_URL",
        _database,
        REQUIRED,
        "URL",
        "PostgreSQL 15 or newer, the only store that is trusted.",
        "postgresql://fencepost:secret@db.example/fencepost",
    ),
    Variable(
        "FENCEPOST_REDIS_URL",
        _REDIS,
        REQUIRED,
        "URL",
        "Redis or Valkey for hints to open pages and for caches; may be lost at any time.",
        "redis://:secret@cache.example:6379/0",
    ),
    Variable(
        "FENCEPOST_BROKER_URL",
        _url("redis", "rediss", "amqp", "amqps"),
        REQUIRED,
        "URL",
        "Celery's broker: Redis, Valkey or RabbitMQ; losing it loses no work.",
        "redis://:secret@cache.example:6379/1",
    ),
    Variable(
        "FENCEPOST_EVIDENCE_URL",
        _url("file", "s3"),
        REQUIRED,
        "URL",
        "Where evidence is kept: a folder of this machine, or an S3 bucket (extra `s3`).",
        "file:///srv/fencepost/evidence",
    ),
    Variable(
        "FENCEPOST_VAR",
        _folder,
        REQUIRED,
        "folder",
        "Fencepost's own data folder: workspaces, logs, static files.",
    ),
    Variable(
        "FENCEPOST_URL",
        _url("http", "https"),
        "http://127.0.0.1:8000",
        "URL",
        "The address people and agents use; secure cookies and HTTPS rules follow from `https://`.",
        "https://fencepost.example",
    ),
    Variable(
        "FENCEPOST_ALLOWED_HOSTS",
        _words,
        ["127.0.0.1", "localhost"],
        "list",
        "Host names answered, by comma.",
    ),
    Variable("FENCEPOST_ENVIRONMENT_NAME", _text, "local", "text", "Shown in the header of each page."),
    Variable("FENCEPOST_DEBUG", _flag, False, "true/false", "Django's debug pages; never in production."),
    Variable(
        "FENCEPOST_REPOSITORIES",
        _text,
        "",
        "folder",
        "Folder of the git repositories agents work in; empty for `$FENCEPOST_VAR/repositories`.",
    ),
    Variable(
        "FENCEPOST_CHROMIUM",
        _text,
        "",
        "path",
        "The browser agents take screenshots with; empty: looked for on PATH.",
    ),
    Variable(
        "FENCEPOST_PREPARED_STATEMENTS",
        _flag,
        True,
        "true/false",
        "Turn off behind PgBouncer older than 1.21 in transaction mode.",
    ),
    Variable(
        "FENCEPOST_DATABASE_CONNECTION_SECONDS",
        _seconds(0),
        600,
        "seconds",
        "How long a database connection is kept; 0 closes it after each request.",
    ),
    Variable(
        "FENCEPOST_STATEMENT_TIMEOUT_MS",
        _whole(100, 600_000),
        15_000,
        "milliseconds",
        "PostgreSQL ends a statement that takes longer.",
    ),
    Variable(
        "FENCEPOST_LOCK_TIMEOUT_MS",
        _whole(100, 60_000),
        2_000,
        "milliseconds",
        "PostgreSQL ends a wait for a lock that takes longer.",
    ),
    Variable(
        "FENCEPOST_IDLE_TRANSACTION_TIMEOUT_MS",
        _whole(100, 600_000),
        2_000,
        "milliseconds",
        "PostgreSQL ends a session that idles inside a transaction for longer.",
    ),
    Variable(
        "FENCEPOST_API_CALLS_IN_TEN_SECONDS",
        _whole(1, 10_000_000),
        20_000,
        "number",
        "Calls one token may make in ten seconds before the API answers 429.",
    ),
    Variable(
        "FENCEPOST_SESSION_IDLE_SECONDS",
        _seconds(60),
        8 * 3600,
        "seconds",
        "A person who does nothing for this long is signed out.",
    ),
    Variable(
        "FENCEPOST_SESSION_ABSOLUTE_SECONDS",
        _seconds(60),
        7 * 86400,
        "seconds",
        "A session ends after this long, whatever its use.",
    ),
    Variable(
        "FENCEPOST_VISIBILITY_TIMEOUT_SECONDS",
        _seconds(60),
        7200,
        "seconds",
        "After this long Redis hands an unacknowledged message out again; must exceed every time limit.",
    ),
    Variable(
        "FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS",
        _seconds(60),
        3600,
        "seconds",
        "Hard limit of one attempt run in a worker.",
    ),
    Variable(
        "FENCEPOST_UPKEEP_TIME_LIMIT_SECONDS", _seconds(10), 300, "seconds", "Hard limit of one upkeep job."
    ),
    Variable(
        "FENCEPOST_LOOKUP_HOSTS",
        _hosts,
        [],
        "list",
        "Hosts that look-ups of effects may reach over HTTP, by comma; a host without a port stands for the usual port of the scheme.",
        "pay.example,stock.example:8443",
    ),
    Variable(
        "FENCEPOST_LOOKUP_COMMANDS",
        _commands,
        {},
        "JSON",
        "Commands that look-ups of effects may run: an object of name and list of words.",
        '{"check-dns": ["/usr/local/bin/check-dns", "--short"]}',
    ),
    Variable("FENCEPOST_LOG_LEVEL", _level, "INFO", "text", "DEBUG, INFO, WARNING or ERROR."),
    Variable(
        "FENCEPOST_TRUSTED_PROXY",
        _flag,
        False,
        "true/false",
        "Believe `X-Forwarded-Proto` and the last address of `X-Forwarded-For`, both set by the proxy in front; only when no one can reach Fencepost past it.",
    ),
    Variable(
        "FENCEPOST_HSTS_SECONDS",
        _seconds(0),
        31_536_000,
        "seconds",
        "Strict-Transport-Security, when the address is `https://`.",
    ),
)


def read(environment: Mapping[str, str]) -> dict[str, Any]:
    """Every variable of `VARIABLES` as a typed value, by name. Raises `Misconfigured` on the first bad one."""
    env = environ.Env()
    env.ENVIRON = dict(environment)
    return {variable.name: _value(env, variable, environment) for variable in VARIABLES}


def _value(env: environ.Env, variable: Variable, environment: Mapping[str, str]) -> Any:
    if not environment.get(variable.name, "").strip():
        if variable.default is REQUIRED:
            raise Misconfigured(f"{variable.name} is not set: {variable.meaning}")
        return variable.default
    try:
        return variable.read(env, variable.name)
    except (ValueError, ImproperlyConfigured) as error:
        raise Misconfigured(f"{variable.name} {error}.") from None
