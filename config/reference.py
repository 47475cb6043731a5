"""Reference pages written from the code, so that the two cannot differ; a test compares them."""

from config.readers import REQUIRED, VARIABLES, Variable

HEAD = """# Settings

Fencepost reads its settings from the environment, once, when a process starts. A variable that is missing
or cannot be understood ends the start with one sentence that names it. `scripts/up` sets all that are
required; in production whoever runs Fencepost does.

This page is written from `config/readers.py` by `manage.py settings_reference`; do not edit it by hand.

| Variable | Kind | Default | Meaning |
|---|---|---|---|
"""

TAIL = """
Behind PgBouncer in transaction mode: `FENCEPOST_PREPARED_STATEMENTS=false` for versions before 1.21, and
`ignore_startup_parameters = options` in PgBouncer together with the same limits set on the role
(`ALTER ROLE … SET lock_timeout`, `statement_timeout`, `idle_in_transaction_session_timeout`).

Two processes read a variable of their own, which `scripts/up` sets: `FENCEPOST_PROCESS` is the name a
process shows in `pg_stat_activity`, and `FENCEPOST_READY_NOTE` is a file that a worker or beat writes
once it takes work.
"""


def settings_page() -> str:
    """The whole of docs/reference/settings.md."""
    return HEAD + "".join(_row(variable) for variable in VARIABLES) + TAIL


def _row(variable: Variable) -> str:
    meaning = variable.meaning
    if variable.example:
        meaning += f" Example: `{variable.example}`."
    return f"| `{variable.name}` | {variable.kind} | {_default(variable.default)} | {meaning} |\n"


def _default(default: object) -> str:
    if default is REQUIRED:
        return "**required**"
    if default in ("", [], {}):
        return "empty"
    if isinstance(default, list):
        return f"`{','.join(default)}`"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default}`"
