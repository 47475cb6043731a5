"""The edges between states, as data (claim.v1 section 2).

Promises: every change of a task's state is one of ``EDGES``, and whether it raises the claim
generation, ends an attempt or grants one is read from here and from nowhere else. The state
diagram of the documentation is drawn from this table.
"""

from __future__ import annotations

from dataclasses import dataclass

from claims.vocabulary import State, Verb


@dataclass(frozen=True, slots=True)
class Edge:
    """One legal change. ``raises``: the generation goes up by one in the same write."""

    source: State | None
    verb: Verb
    target: State
    raises: bool
    grants: bool = False

    def __str__(self) -> str:
        return f"{self.source or 'new'} -> {self.target}"


def _loses(source: State, verb: Verb, *targets: State) -> list[Edge]:
    """Edges on which an authority ends."""
    return [Edge(source, verb, target, raises=True) for target in targets]


def _grants(source: State, verb: Verb) -> Edge:
    """An edge on which an attempt begins; one raise, also where another authority ends."""
    return Edge(source, verb, State.CLAIMED, raises=True, grants=True)


def _stays(source: State, verb: Verb) -> Edge:
    """A recorded change that leaves the state and every authority alone."""
    return Edge(source, verb, source, raises=False)


EDGES: tuple[Edge, ...] = (
    Edge(None, Verb.CREATE, State.OPEN, raises=False),
    _grants(State.OPEN, Verb.CLAIM),
    _grants(State.OPEN, Verb.CLAIM_NEXT),
    _grants(State.OPEN, Verb.REASSIGN),
    _grants(State.CLAIMED, Verb.CLAIM),
    _grants(State.CLAIMED, Verb.REASSIGN),
    _grants(State.DELIVERED, Verb.REQUEST_CHANGES),
    *_loses(State.CLAIMED, Verb.RELEASE, State.OPEN, State.HELD),
    *_loses(State.CLAIMED, Verb.FAIL, State.OPEN, State.HELD),
    *_loses(State.CLAIMED, Verb.RELEASE_QUIET, State.OPEN, State.HELD),
    *_loses(State.CLAIMED, Verb.LAPSE, State.OPEN, State.HELD),
    *_loses(State.CLAIMED, Verb.DISABLE_AGENT, State.HELD),
    *_loses(State.CLAIMED, Verb.COMMIT, State.DONE),
    Edge(State.CLAIMED, Verb.DELIVER, State.DELIVERED, raises=False),
    *_loses(State.DELIVERED, Verb.ACCEPT, State.DONE),
    *_loses(State.DELIVERED, Verb.REJECT, State.OPEN, State.HELD),
    *_loses(State.DELIVERED, Verb.REQUEST_CHANGES, State.OPEN, State.HELD),
    Edge(State.HELD, Verb.REQUEUE, State.OPEN, raises=False),
    *(
        _stays(state, Verb.ADJUST)
        for state in (State.OPEN, State.CLAIMED, State.DELIVERED, State.HELD, State.BLOCKED)
    ),
    _stays(State.CLAIMED, Verb.EXTEND_ONCE),
    _stays(State.CLAIMED, Verb.NUDGE),
)

_BY_STEP = {(edge.source, edge.verb, edge.target): edge for edge in EDGES}


def edge(source: State | None, verb: Verb, target: State) -> Edge:
    """The edge of this step.

    Raises ``KeyError`` when the contract has none: a fault of the caller, never an answer.
    """
    return _BY_STEP[source, verb, target]
