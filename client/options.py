"""What the commands share: their options, the file a grant is kept in, and how answers are printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from .grants import Grant

Url = Annotated[str, typer.Option(envvar="FENCEPOST_URL", help="Address of the server.")]
Token = Annotated[
    str,
    typer.Option(
        envvar="FENCEPOST_TOKEN", help="Bearer token; better given by the environment.", show_default=False
    ),
]
GrantFile = Annotated[
    Path, typer.Option("--grant", envvar="FENCEPOST_GRANT", help="File the grant is kept in.")
]


def keep(grant: Grant, path: Path) -> None:
    """Write a grant into a file that only its user can read, and print it."""
    path.touch(mode=0o600)
    path.write_text(json.dumps(dict(grant.body), indent=2), encoding="utf-8")
    show(dict(grant.body))


def kept(path: Path) -> Grant:
    """The grant in a file; ends with 2 where there is none."""
    try:
        return Grant.parse(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        typer.echo(f"{path} holds no grant: {error}", err=True)
        raise typer.Exit(2) from error


def read_json(path: Path) -> Any:
    """The JSON value in a file; ends with 2 where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        typer.echo(f"{path} holds no JSON: {error}", err=True)
        raise typer.Exit(2) from error


def show(body: Any) -> None:
    """Print an answer as JSON."""
    typer.echo(json.dumps(body, indent=2))
