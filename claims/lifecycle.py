"""The edges between states, as data (claim.v1 section 2).

Promises: every change of a task's state is one of ``EDGES``, and whether it raises the claim
generation, ends an attempt or grants one is read from here and from nowhere else. The state
diagram of the documentation is drawn from this table.
"""

from __future__ import annotations

from dataclasses import dataclass

from claims.vocabulary import EffectState, State, Verb


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


_BY_THE_RUNNER = (
    Verb.PREPARE,
    Verb.EXECUTE,
    Verb.CONFIRM,
    Verb.UNKNOWN,
    Verb.HAND_BACK,
    Verb.ABANDON,
    Verb.EXPIRE_PERMIT,
    Verb.APPROVE,
    Verb.REFUSE,
)
_NOT_FINAL = (State.BLOCKED, State.OPEN, State.CLAIMED, State.DELIVERED, State.HELD)
_OPENED = (State.OPEN, State.CLAIMED, State.DELIVERED, State.HELD)
_AUTHORITY = (State.CLAIMED, State.DELIVERED)

_BEGINNINGS = tuple(
    Edge(None, verb, state, raises=False)
    for verb in (Verb.CREATE, Verb.REVISE, Verb.REQUEUE)
    for state in (State.OPEN, State.BLOCKED)
)
"""A task, or the next revision of one, begins OPEN, or BLOCKED by its predecessors."""


def _ends(verb: Verb, target: State, *sources: State) -> list[Edge]:
    """Edges to a final state; one out of an authority raises the generation."""
    return [Edge(source, verb, target, raises=source in _AUTHORITY) for source in sources]


EDGES: tuple[Edge, ...] = (
    *_BEGINNINGS,
    Edge(State.BLOCKED, Verb.OPEN, State.OPEN, raises=False),
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
    *_ends(Verb.REQUEUE, State.SUPERSEDED, State.HELD),
    *_ends(Verb.CANCEL, State.CANCELLED, *_NOT_FINAL),
    *_ends(Verb.REVISE, State.SUPERSEDED, *_NOT_FINAL, State.CANCELLED),
    _stays(State.DONE, Verb.REVISE),
    *(_grants(state, Verb.ADOPT) for state in (State.DELIVERED, State.OPEN, State.HELD)),
    *(Edge(state, Verb.OUTDATE, State.HELD, raises=True) for state in _OPENED),
    _stays(State.DONE, Verb.OUTDATE),
    *(_stays(state, verb) for verb in (Verb.ADJUST, Verb.ACKNOWLEDGE) for state in _NOT_FINAL),
    _stays(State.CLAIMED, Verb.EXTEND_ONCE),
    _stays(State.CLAIMED, Verb.NUDGE),
    *(_stays(State.CLAIMED, verb) for verb in _BY_THE_RUNNER),
    *(_stays(state, verb) for verb in (Verb.OBSERVE, Verb.RECONCILE, Verb.REVOKE) for state in State),
)
"""An effect's transitions leave its task's state alone and are still changes of the task."""


@dataclass(frozen=True, slots=True)
class EffectEdge:
    """One legal change of an outside effect."""

    source: EffectState | None
    verb: Verb
    target: EffectState

    def __str__(self) -> str:
        return f"{self.source or 'new'} -> {self.target}"


EFFECT_EDGES: tuple[EffectEdge, ...] = (
    EffectEdge(None, Verb.PREPARE, EffectState.PREPARED),
    EffectEdge(EffectState.PREPARED, Verb.EXECUTE, EffectState.EXECUTING),
    EffectEdge(EffectState.PREPARED, Verb.ABANDON, EffectState.ABANDONED),
    EffectEdge(EffectState.PREPARED, Verb.RECONCILE, EffectState.COMMITTED),
    EffectEdge(EffectState.PREPARED, Verb.RECONCILE, EffectState.PREPARED),
    *(EffectEdge(state, Verb.OBSERVE, state) for state in EffectState),
    EffectEdge(EffectState.EXECUTING, Verb.CONFIRM, EffectState.COMMITTED),
    EffectEdge(EffectState.EXECUTING, Verb.UNKNOWN, EffectState.UNKNOWN),
    EffectEdge(EffectState.EXECUTING, Verb.HAND_BACK, EffectState.UNKNOWN),
    EffectEdge(EffectState.EXECUTING, Verb.EXPIRE_PERMIT, EffectState.UNKNOWN),
    *(
        EffectEdge(source, Verb.RECONCILE, target)
        for source in (EffectState.EXECUTING, EffectState.UNKNOWN)
        for target in (
            EffectState.COMMITTED,
            EffectState.PREPARED,
            EffectState.UNKNOWN,
            EffectState.WRITTEN_OFF,
        )
    ),
)
"""Claim.v1 section 5. Beside these, every loss of authority makes EXECUTING UNKNOWN (``kernel``)."""

_BY_STEP = {(edge.source, edge.verb, edge.target): edge for edge in EDGES}


def edge(source: State | None, verb: Verb, target: State) -> Edge:
    """The edge of this step.

    Raises ``KeyError`` when the contract has none: a fault of the caller, never an answer.
    """
    return _BY_STEP[source, verb, target]


_EFFECT_STEPS = {(edge.source, edge.verb, edge.target) for edge in EFFECT_EDGES}


def effect_edge(source: EffectState, verb: Verb, target: EffectState) -> None:
    """Raises ``KeyError`` when the contract has no such step of an effect: a fault of the caller."""
    if (source, verb, target) not in _EFFECT_STEPS:
        raise KeyError((source, verb, target))
