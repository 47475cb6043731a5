"""``fencepost effect``: outside effects on a command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import typer

from .calls import Client
from .grants import Grant
from .options import GrantFile, Token, Url, kept, read_json, show

app = typer.Typer(
    help="Outside effects of a claim: bound, permitted, confirmed, looked up.", no_args_is_help=True
)

Act = Callable[[Client, Grant], Any]
Receipt = Annotated[Path | None, typer.Option(help="File with the receipt as a JSON object.")]


@app.command("show")
def show_effect(effect_id: str, url: Url, token: Token) -> None:
    """The effect as it reads now, with the etag that a look-up names."""
    with Client(url, token) as client:
        show(client.effects.read(effect_id))


@app.command()
def prepare(
    slot: str,
    payload: Annotated[Path, typer.Argument(help="File with the payload as JSON.")],
    url: Url,
    token: Token,
    grant: GrantFile = Path("grant.json"),
) -> None:
    """Bind a payload to a slot of the input; the answer has the effect's id."""
    bound = read_json(payload)
    _act(url, token, grant, lambda client, held: client.effects.prepare(held, slot, bound))


@app.command()
def execute(
    effect_id: str,
    url: Url,
    token: Token,
    grant: GrantFile = Path("grant.json"),
    key: Annotated[str | None, typer.Option(help="Idempotency key; a new one when left out.")] = None,
) -> None:
    """The permit for one outside call. Its key is printed first, for a hand-back if no answer comes."""
    named = key or uuid4().hex
    typer.echo(f"execute under the key {named}", err=True)
    _act(url, token, grant, lambda client, held: dict(client.effects.execute(held, effect_id, named).body))


@app.command()
def confirm(
    effect_id: str,
    permit_id: str,
    url: Url,
    token: Token,
    grant: GrantFile = Path("grant.json"),
    receipt: Receipt = None,
    resource_etag: str = "",
) -> None:
    """The call was made and answered."""
    answered = {"receipt": read_json(receipt) if receipt else {}, "resourceEtag": resource_etag}
    body = {"permitId": permit_id, **answered}
    _act(url, token, grant, lambda client, held: client.effects.move(held, effect_id, "confirm", body))


@app.command()
def unknown(
    effect_id: str,
    permit_id: str,
    url: Url,
    token: Token,
    grant: GrantFile = Path("grant.json"),
    note: str = "",
) -> None:
    """Whether the call was made cannot be told."""
    body = {"permitId": permit_id, "note": note}
    _act(url, token, grant, lambda client, held: client.effects.move(held, effect_id, "unknown", body))


@app.command("hand-back")
def hand_back(
    effect_id: str, execute_key: str, url: Url, token: Token, grant: GrantFile = Path("grant.json")
) -> None:
    """The answer to the execute under EXECUTE_KEY never came."""
    _act(url, token, grant, lambda client, held: client.effects.hand_back(held, effect_id, execute_key))


@app.command()
def abandon(
    effect_id: str, reason: str, url: Url, token: Token, grant: GrantFile = Path("grant.json")
) -> None:
    """A prepared effect will not be sent, for good."""
    _act(url, token, grant, lambda client, held: client.effects.abandon(held, effect_id, reason))


@app.command()
def reconcile(
    effect_id: str,
    said: Annotated[str, typer.Argument(help="HAPPENED, DID_NOT_HAPPEN or CANNOT_TELL.")],
    look_up: Annotated[str, typer.Option(help="Kind of the slot's declared look-up.")],
    etag: Annotated[str, typer.Option(help="The effect's etag, read before the look-up began.")],
    url: Url,
    token: Token,
    grant: GrantFile = Path("grant.json"),
    receipt: Receipt = None,
    note: str = "",
) -> None:
    """What the declared look-up saw."""
    seen = read_json(receipt) if receipt else None
    _act(
        url,
        token,
        grant,
        lambda client, held: client.effects.reconcile(held, effect_id, said, look_up, etag, seen, note),
    )


def _act(url: str, token: str, grant: Path, act: Act) -> None:
    held = kept(grant)
    with Client(url, token) as client:
        show(act(client, held))
