"""`manage.py state_diagram`: prints docs/reference/states.md as `lifecycle.EDGES` has it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand

from claims.lifecycle import EDGES, Edge
from claims.vocabulary import FINAL, State, Verb

HEAD = """# States and edges

Every change of a task is one of the edges below. This page is written from `claims/lifecycle.py` by
`manage.py state_diagram`; do not edit it by hand. A test compares the two.

"""

LEGEND = """
"+1" means that the task's claim generation goes up by one in the same write, so that every fence from before
is answered FENCED. Each edge to OPEN out of CLAIMED or DELIVERED goes to HELD instead when the attempts are
used up.

"""

COLUMNS = "| From | Verb | To | Generation | Attempt |\n|---|---|---|---|---|\n"

MEANING: dict[State, str] = {
    State.BLOCKED: "Waits for the results of other tasks. Not reached yet.",
    State.OPEN: "Can be claimed, from its `notBefore` on, while the pool's gate is open.",
    State.CLAIMED: "One agent holds it, with a lease. Called *quiet* on pages once the lease has run out under MANUAL reclaim.",
    State.DELIVERED: "A result waits for a person's decision. There is no lease and no clock.",
    State.HELD: "Nobody can claim it. It says why, and an operator can requeue it.",
    State.DONE: "Has its one canonical result.",
    State.CANCELLED: "Ended without a result. Not reached yet.",
    State.SUPERSEDED: "Replaced by a newer revision. Not reached yet.",
}


class Command(BaseCommand):
    """Prints the page; redirect it to the file."""

    help = "Print the reference of states and edges, as docs/reference/states.md should be."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Nothing is read but the code."""
        self.stdout.write(states_page(), ending="")


def states_page() -> str:
    """The whole of docs/reference/states.md."""
    rows = "".join(_row(edge) for edge in EDGES if not _is_adjust(edge))
    return "\n".join([HEAD + _diagram() + LEGEND + COLUMNS + rows, _adjust(), _states()])


def _diagram() -> str:
    """The edges that lead from one state to another, or that renew an authority, as Mermaid text."""
    lines = ["```mermaid", "stateDiagram-v2"]
    joined: dict[tuple[str, str], list[str]] = {}
    for edge in EDGES:
        if not _is_adjust(edge):
            verbs = joined.setdefault((edge.source or "[*]", edge.target), [])
            verbs += [edge.verb.value] if edge.verb.value not in verbs else []
    lines += [f"    {source} --> {target} : {', '.join(verbs)}" for (source, target), verbs in joined.items()]
    reached = {edge.target for edge in EDGES}
    lines += [f"    {state} --> [*]" for state in State if state in FINAL & reached]
    return "\n".join([*lines, "```", ""])


def _row(edge: Edge) -> str:
    generation, attempt = ("+1" if edge.raises else "stays"), _attempt(edge)
    return f"| {edge.source or 'new'} | `{edge.verb}` | {edge.target} | {generation} | {attempt} |\n"


def _attempt(edge: Edge) -> str:
    """What becomes of the attempt, in words; nothing where none is touched."""
    if edge.grants:
        return "ends, and another begins" if edge.source is State.CLAIMED else "begins"
    if edge.verb is Verb.DELIVER:
        return "ends; its fence can still be committed"
    return "ends" if edge.raises and edge.source is State.CLAIMED else ""


def _is_adjust(edge: Edge) -> bool:
    """``adjust`` changes a scheduling attribute in many states, and never the state."""
    return edge.verb is Verb.ADJUST


def _adjust() -> str:
    states = ", ".join(str(edge.source) for edge in EDGES if _is_adjust(edge))
    return f"`adjust` changes scheduling attributes and leaves state and generation alone; it is taken in {states}.\n"


def _states() -> str:
    rows = (f"| {state} | {MEANING[state]} | {_yes(state in FINAL)} |" for state in State)
    return _table("## The states", "| State | Meaning | Final |", rows)


def _table(title: str, columns: str, rows: Iterable[str]) -> str:
    return "\n".join([title, "", columns, "|---|---|---|", *rows, ""])


def _yes(holds: bool) -> str:
    return "yes" if holds else ""
