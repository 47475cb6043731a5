"""``fencepost task``: writing tasks, with a person's token of the scope ``prepare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .calls import Client
from .options import Token, Url, read_json, show

app = typer.Typer(help="Write, revise and cancel tasks; needs a person's token.", no_args_is_help=True)


@app.command()
def create(
    pool: str,
    tasks: Annotated[Path, typer.Argument(help="File with a JSON list of tasks, or with one task.")],
    url: Url,
    token: Token,
) -> None:
    """Write tasks, all or none; ``nodeId`` and ``dependsOn`` make a graph of them."""
    written = read_json(tasks)
    with Client(url, token) as client:
        show(client.create(pool, written if isinstance(written, list) else [written]))


@app.command("show")
def show_task(task_id: str, url: Url, token: Token) -> None:
    """A task with its input, what it waits for, its effects and its revisions."""
    with Client(url, token) as client:
        show(client.task(task_id))


@app.command()
def revise(
    task_id: str,
    input_file: Annotated[Path, typer.Argument(help="File with the new input as JSON.")],
    seen: Annotated[int, typer.Option("--version", help="State version of the task that you saw.")],
    url: Url,
    token: Token,
    title: str | None = None,
) -> None:
    """The next revision of a task; no fence of an earlier one writes after it."""
    with Client(url, token) as client:
        show(client.revise(task_id, read_json(input_file), seen, title))


@app.command()
def cancel(task_id: str, reason: str, url: Url, token: Token) -> None:
    """From the answer on nothing of the task is accepted."""
    with Client(url, token) as client:
        show(client.cancel(task_id, reason))


@app.command()
def acknowledge(
    task_id: str,
    effect_id: str,
    reason: str,
    url: Url,
    token: Token,
    counts: Annotated[bool, typer.Option("--counts/--again", help="It counts, or is to be done again.")],
) -> None:
    """Whether an effect of an earlier revision counts for this task."""
    with Client(url, token) as client:
        show(client.acknowledge(task_id, effect_id, reason, counts=counts))
