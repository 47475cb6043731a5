"""`manage.py state_diagram`: prints docs/reference/states.md as `lifecycle` has it, of tasks and of effects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand

from claims.lifecycle import EDGES, EFFECT_EDGES, Edge, EffectEdge
from claims.vocabulary import FINAL, SETTLED, EffectState, State, Verb

HEAD = """# States and edges

Every change of a task is one of the edges below. This page is written from `claims/lifecycle.py` by
`manage.py state_diagram`; do not edit it by hand. A test compares the two.

"""

LEGEND = """
"+1" means that the task's claim generation goes up by one in the same write, so that every fence from before
is answered FENCED. Each edge to OPEN out of CLAIMED or DELIVERED goes to HELD instead when the attempts are
used up. `requeue` of a held task whose input is stale makes its next revision, and so does `revise`; the row
from before is SUPERSEDED, or stays DONE.

"""

COLUMNS = "| From | Verb | To | Generation | Attempt |\n|---|---|---|---|---|\n"

MEANING: dict[State, str] = {
    State.BLOCKED: "Waits for the results of other tasks, and names them. It opens in the commit of the last one.",
    State.OPEN: "Can be claimed, from its `notBefore` on, while the pool's gate is open.",
    State.CLAIMED: "One agent holds it, with a lease. Called *quiet* on pages once the lease has run out under MANUAL reclaim.",
    State.DELIVERED: "A result waits for a person's decision. There is no lease and no clock.",
    State.HELD: "Nobody can claim it. It says why, and an operator can requeue it.",
    State.DONE: "Has its one canonical result. Marked when a result it was built on has been replaced.",
    State.CANCELLED: "Ended without a result. Nothing of it is accepted any more; it can be revised.",
    State.SUPERSEDED: "Replaced by a newer revision of the same lineage.",
}

EFFECTS = """
## Outside effects

The steps of an outside effect leave the state of its task alone, and each is a change of the task. Beside
these, every loss of authority makes an effect that is EXECUTING UNKNOWN in the same write, and one that is past
its permit's deadline, or of an epoch that has ended, reads as UNKNOWN before anybody has written it down.
`observe` keeps what somebody saw without applying it, in every state.

"""

EFFECT_COLUMNS = "| From | Verb | To |\n|---|---|---|\n"

EFFECT_MEANING: dict[EffectState, str] = {
    EffectState.PREPARED: "Its payload is bound; nothing has been sent, as far as anybody knows.",
    EffectState.EXECUTING: "A permit is out: one call may be made until its deadline.",
    EffectState.UNKNOWN: "The call may or may not have been made. It is looked up, never sent again on a guess.",
    EffectState.COMMITTED: "It happened.",
    EffectState.ABANDONED: "It will not be sent. Its payload stays bound.",
    EffectState.WRITTEN_OFF: "An operator gave the question up, with a reason.",
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
    rows = "".join(_row(edge) for edge in EDGES if not is_a_stay(edge))
    return "\n".join([HEAD + _diagram() + LEGEND + COLUMNS + rows, _stays(), _states() + _effects()])


def is_a_stay(edge: Edge) -> bool:
    """Whether a verb is only recorded here: neither the state nor any authority moves."""
    return edge.source is edge.target and not edge.raises


def _diagram() -> str:
    """The edges that lead from one state to another, or that renew an authority, as Mermaid text."""
    steps = [(edge.source or "[*]", edge.verb.value, edge.target) for edge in EDGES if not is_a_stay(edge)]
    reached = {edge.target for edge in EDGES}
    return _mermaid(steps, [state for state in State if state in FINAL & reached])


def _mermaid(steps: Iterable[tuple[str, str, str]], ends: Iterable[str]) -> str:
    """Steps as Mermaid text, one arrow for all verbs that lead the same way."""
    joined: dict[tuple[str, str], list[str]] = {}
    for source, verb, target in steps:
        verbs = joined.setdefault((source, target), [])
        verbs += [verb] if verb not in verbs else []
    lines = ["```mermaid", "stateDiagram-v2"]
    lines += [f"    {source} --> {target} : {', '.join(verbs)}" for (source, target), verbs in joined.items()]
    lines += [f"    {state} --> [*]" for state in ends]
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


def _stays() -> str:
    """Which verbs are recorded without moving anything, and in which states."""
    verbs = dict.fromkeys(edge.verb for edge in EDGES if is_a_stay(edge))
    taken = {
        verb: [str(edge.source) for edge in EDGES if edge.verb is verb and is_a_stay(edge)] for verb in verbs
    }
    rows = [f"| `{verb}` | {', '.join(states)} |" for verb, states in taken.items()]
    head = "Changes that leave state and generation alone, each with the states it is taken in:\n"
    return "\n".join([head, "| Verb | Taken in |", "|---|---|", *rows, ""])


def _states() -> str:
    rows = (f"| {state} | {MEANING[state]} | {_yes(state in FINAL)} |" for state in State)
    return _table("## The states", "| State | Meaning | Final |", rows)


def _effects() -> str:
    """The same of outside effects."""
    edges = [edge for edge in EFFECT_EDGES if not is_an_observation(edge)]
    steps = [(edge.source or "[*]", edge.verb.value, edge.target) for edge in edges]
    rows = "".join(f"| {edge.source or 'new'} | `{edge.verb}` | {edge.target} |\n" for edge in edges)
    states = (f"| {state} | {EFFECT_MEANING[state]} | {_yes(state in SETTLED)} |" for state in EffectState)
    table = _table("## The states of an effect", "| State | Meaning | Final |", states)
    return "\n".join(
        [EFFECTS + _mermaid(steps, [s for s in EffectState if s in SETTLED]), EFFECT_COLUMNS + rows, table]
    )


def is_an_observation(edge: EffectEdge) -> bool:
    """Whether something was only seen: ``observe`` leads from every state to itself."""
    return edge.verb is Verb.OBSERVE


def _table(title: str, columns: str, rows: Iterable[str]) -> str:
    return "\n".join([title, "", columns, "|---|---|---|", *rows, ""])


def _yes(holds: bool) -> str:
    return "yes" if holds else ""
