"""``fencepost``: the agent's side on a command line. Answers are JSON on standard output."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .calls import Client
from .files import Unusable, read_hand_in
from .grants import Grant
from .problems import Problem, Unreachable
from .running import own_environment, run_one

EMPTY_PAUSE_SECONDS = 1.0
"""A busy server answers at once that there is nothing, instead of keeping one more waiting."""

app = typer.Typer(
    help="Claim work from Fencepost, renew it, hand it in.", no_args_is_help=True, add_completion=False
)

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


@app.command()
def whoami(url: Url, token: Token) -> None:
    """Whose token this is, and in which pools."""
    with Client(url, token) as client:
        _print(client.whoami())


@app.command()
def claim(
    task_id: str, url: Url, token: Token, grant: GrantFile = Path("grant.json"), ttl: int | None = None
) -> None:
    """Claim one task; the grant is kept in a file that only you can read."""
    with Client(url, token) as client:
        _keep(client.claim(task_id, ttl), grant)


@app.command("claim-next")
def claim_next(
    pool: str,
    url: Url,
    token: Token,
    grant: GrantFile = Path("grant.json"),
    ttl: int | None = None,
    wait: Annotated[int, typer.Option(min=0, max=25)] = 0,
) -> None:
    """Claim the next task of a pool; ends with 3 when there is none."""
    with Client(url, token) as client:
        grants = client.claim_next(pool, ttl_seconds=ttl, wait_seconds=wait)
    if not grants:
        typer.echo("There is nothing to claim.", err=True)
        raise typer.Exit(3)
    _keep(grants[0], grant)


@app.command()
def renew(url: Url, token: Token, grant: GrantFile = Path("grant.json"), seconds: int = 300) -> None:
    """Let the lease run for some seconds from now."""
    with Client(url, token) as client:
        _print(client.renew(_kept(grant), seconds, tries=3))


@app.command()
def release(reason: str, url: Url, token: Token, grant: GrantFile = Path("grant.json")) -> None:
    """Give the task back."""
    with Client(url, token) as client:
        _print(client.release(_kept(grant), reason))


@app.command()
def deliver(folder: Path, url: Url, token: Token, grant: GrantFile = Path("grant.json")) -> None:
    """Hand in what FOLDER/delivery.json describes."""
    try:
        read = read_hand_in(folder)
    except Unusable as unusable:
        typer.echo(str(unusable), err=True)
        raise typer.Exit(2) from unusable
    with Client(url, token) as client:
        _print(
            client.deliver(_kept(grant), read.result, read.evidence, read.summary, read.needs, read.claims)
        )


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(
    pool: str,
    command: Annotated[list[str], typer.Argument(help="The command and its arguments, after --.")],
    url: Url,
    token: Token,
    ttl: int | None = None,
    times: Annotated[int, typer.Option(help="How many tasks to do; 0 goes on for ever.")] = 1,
    limit: Annotated[float, typer.Option(help="Seconds one command may take.")] = 1_800,
) -> None:
    """Claim, run a command with the grant in its environment, hand in what it left; again and again."""
    done, delivered = 0, 0
    environment = {
        **own_environment(),
        "FENCEPOST_URL": url,
        "FENCEPOST_TOKEN": token,
        "FENCEPOST_POOL": pool,
    }
    with Client(url, token) as client:
        while times == 0 or done < times:
            grants = client.claim_next(pool, ttl_seconds=ttl, wait_seconds=20)
            if not grants:
                time.sleep(EMPTY_PAUSE_SECONDS)
            for grant in grants:
                typer.echo(f"{grant}: claimed", err=True)
                done += 1
                delivered += run_one(
                    client, grant, command, environment, lambda line: typer.echo(line, err=True), limit
                )
    raise typer.Exit(0 if delivered == done else 1)


def _keep(grant: Grant, path: Path) -> None:
    path.touch(mode=0o600)
    path.write_text(json.dumps(dict(grant.body), indent=2), encoding="utf-8")
    _print(dict(grant.body))


def _kept(path: Path) -> Grant:
    try:
        return Grant.parse(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        typer.echo(f"{path} holds no grant: {error}", err=True)
        raise typer.Exit(2) from error


def _print(body: Any) -> None:
    typer.echo(json.dumps(body, indent=2))


def main() -> None:
    """Run the command line; a refusal is shown as its problem document and ends with 1."""
    try:
        app()
    except Problem as problem:
        typer.echo(json.dumps(problem.body, indent=2), err=True)
        sys.exit(1)
    except Unreachable as silence:
        typer.echo(str(silence), err=True)
        sys.exit(4)
