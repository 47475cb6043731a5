"""``fencepost``: the agent's side on a command line. Answers are JSON on standard output."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from . import cli_effects, cli_tasks
from .calls import Client
from .certificate import certificate
from .files import Unusable, read_hand_in
from .options import GrantFile, Token, Url, keep, kept, show
from .problems import PermitLost, Problem, Unreachable
from .records import Wrong, parsed
from .running import own_environment, run_one
from .verifying import verify as check

EMPTY_PAUSE_SECONDS = 1.0
"""A busy server answers at once that there is nothing, instead of keeping one more waiting."""

app = typer.Typer(
    help="Claim work from Fencepost, renew it, hand it in.", no_args_is_help=True, add_completion=False
)

app.add_typer(cli_effects.app, name="effect")
app.add_typer(cli_tasks.app, name="task")


@app.command()
def whoami(url: Url, token: Token) -> None:
    """Whose token this is, and in which pools."""
    with Client(url, token) as client:
        show(client.whoami())


@app.command()
def claim(
    task_id: str, url: Url, token: Token, grant: GrantFile = Path("grant.json"), ttl: int | None = None
) -> None:
    """Claim one task; the grant is kept in a file that only you can read."""
    with Client(url, token) as client:
        keep(client.claim(task_id, ttl), grant)


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
    keep(grants[0], grant)


@app.command()
def renew(url: Url, token: Token, grant: GrantFile = Path("grant.json"), seconds: int = 300) -> None:
    """Let the lease run for some seconds from now."""
    with Client(url, token) as client:
        show(client.renew(kept(grant), seconds, tries=3))


@app.command()
def release(reason: str, url: Url, token: Token, grant: GrantFile = Path("grant.json")) -> None:
    """Give the task back."""
    with Client(url, token) as client:
        show(client.release(kept(grant), reason))


@app.command()
def deliver(folder: Path, url: Url, token: Token, grant: GrantFile = Path("grant.json")) -> None:
    """Hand in what FOLDER/delivery.json describes."""
    try:
        read = read_hand_in(folder)
    except Unusable as unusable:
        typer.echo(str(unusable), err=True)
        raise typer.Exit(2) from unusable
    with Client(url, token) as client:
        show(client.deliver(kept(grant), read.result, read.evidence, read.summary, read.needs, read.claims))


@app.command("accept-tool")
def accept_tool(
    tool: str, args_digest: str, url: Url, token: Token, grant: GrantFile = Path("grant.json")
) -> None:
    """For a tool: is the claim still current for which it is asked to act? Ends with 1 if it is not."""
    with Client(url, token) as client:
        show(client.accept_tool(kept(grant).fence, tool, args_digest))


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


@app.command()
def verify(
    record: Annotated[Path, typer.Argument(help="The record of a task, as downloaded from its page.")],
    evidence: Annotated[
        Path | None,
        typer.Option(help="Folder with the evidence, under any names.", exists=True, file_okay=False),
    ] = None,
) -> None:
    """Verify the record of a task offline: print its certificate, or the first thing that is wrong and end with 1."""
    try:
        statement = parsed(record.read_bytes())
        check(statement, evidence)
    except OSError as error:
        typer.echo(f"{error.filename or record} cannot be read: {error.strerror}.", err=True)
        raise typer.Exit(2) from error
    except Wrong as wrong:
        typer.echo(str(wrong), err=True)
        raise typer.Exit(1) from wrong
    typer.echo(certificate(statement, with_files=evidence is not None))


def main() -> None:
    """Run the command line; a refusal is shown as its problem document and ends with 1."""
    try:
        app()
    except Problem as problem:
        typer.echo(json.dumps(problem.body, indent=2), err=True)
        sys.exit(1)
    except (Unreachable, PermitLost) as silence:
        typer.echo(str(silence), err=True)
        sys.exit(4)
