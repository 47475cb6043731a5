"""Every transition goes through the kernel and names its edges, and they are edges of the table."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from typing import Any

import pytest

from claims import transitions
from claims.lifecycle import EDGES
from claims.vocabulary import Verb

FOLDER = Path(transitions.__file__).parent
NAMED = re.compile(r"\b([A-Z]+|new) -> ([A-Z]+)\b")

NO_VERBS = {
    "beginning": "the first row of a task, for create, revise and requeue",
    "checking": "what makes an input none, for create and revise",
    "costing": "what a call says that an attempt cost, for the verbs of a runner",
    "graphs": "which task of a call depends on which, for create",
    "payloads": "the bounds of JSON that comes from outside, for the verbs of effects",
    "results": "the result that stage, deliver and commit hand in",
}
"""Modules that the verbs share. None of their functions is called from outside the package."""

ALSO_TELLS = {
    Verb.OPEN: {Verb.OUTDATE},
}
"""Verbs that history names beside the one that was called: one sweep repairs both omissions."""

TOLD_OF_OTHERS = {Verb.OUTDATE}
"""Nobody calls this: a commit outdates what was built on the result before."""


AT_ONCE = {"claim_at_once": Verb.CLAIM_NEXT, "commit_at_once": Verb.COMMIT}
"""Verbs in one round trip, by a function of the database. They say yes or nothing: whoever gets nothing
calls the verb itself, which goes through the kernel."""


SEVERAL = {"renew_many": Verb.RENEW}
"""Several calls of one verb: what the round trip that they share does not answer, the verb itself does."""


A_PART = {"hand_on"}
"""Functions that do a part of what their verb may, for other people: ``adjust`` for reviewers, while it waits for them."""


def modules() -> list[str]:
    """The modules of the package, but for the package itself."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def verbs_in(name: str) -> list[Callable[..., Any]]:
    """The functions of one module that ``kernel.verb`` made verbs."""
    module = import_module(f"{transitions.__name__}.{name}")
    return [
        found
        for found in vars(module).values()
        if isfunction(found) and hasattr(found, "edges") and found.__module__ == module.__name__
    ]


def verbs() -> Iterator[Callable[..., Any]]:
    """Every verb of the transitions."""
    for name in modules():
        yield from verbs_in(name)


def edges_of(verb: Verb) -> set[str]:
    told = {verb} | ALSO_TELLS.get(verb, set())
    return {str(edge) for edge in EDGES if edge.verb in told}


VERBS = list(verbs())


def name_of(verb: Any) -> str:
    """Under which name it is called from outside: its own, or that of the public function around it."""
    own = str(verb.__name__).lstrip("_")
    return own if own in transitions.__all__ else str(verb.verb.value).replace("-", "_")


@pytest.mark.parametrize("verb", VERBS, ids=name_of)
def test_a_verb_declares_exactly_the_edges_that_the_table_gives_it(verb: Any) -> None:
    if name_of(verb) in A_PART:
        assert set(verb.edges) < edges_of(verb.verb)
    else:
        assert set(verb.edges) == edges_of(verb.verb)


@pytest.mark.parametrize("verb", VERBS, ids=name_of)
def test_a_docstring_opens_with_its_edges_or_says_that_it_has_none(verb: Any) -> None:
    first = (getattr(transitions, name_of(verb)).__doc__ or "").splitlines()[0]
    named = {f"{source} -> {target}" for source, target in NAMED.findall(first)}
    assert named <= edges_of(verb.verb)
    assert bool(named) is bool(edges_of(verb.verb))
    assert bool(named) or first.startswith("No edge.")


def test_every_public_function_of_the_transitions_goes_through_the_kernel() -> None:
    public = {name for name in transitions.__all__ if name.islower()}
    assert public - set(AT_ONCE) - set(SEVERAL) == {name_of(verb) for verb in VERBS}


@pytest.mark.parametrize("name", sorted(AT_ONCE))
def test_a_verb_at_once_promises_edges_of_the_verb_it_stands_for(name: str) -> None:
    first = (getattr(transitions, name).__doc__ or "").splitlines()[0]
    named = {f"{source} -> {target}" for source, target in NAMED.findall(first)}
    assert named
    assert named <= edges_of(AT_ONCE[name])
    assert "None" in first


@pytest.mark.parametrize("name", sorted(SEVERAL))
def test_several_calls_of_a_verb_without_an_edge_promise_none(name: str) -> None:
    assert not edges_of(SEVERAL[name])
    assert (getattr(transitions, name).__doc__ or "").startswith("No edge.")


@pytest.mark.parametrize("name", modules())
def test_a_module_has_verbs_or_is_shared_by_the_others_for_a_stated_reason(name: str) -> None:
    assert bool(verbs_in(name)) is (name not in NO_VERBS)


def test_nothing_of_a_shared_module_but_its_values_is_public() -> None:
    shared = {f"{transitions.__name__}.{name}" for name in NO_VERBS}
    public = [getattr(transitions, name) for name in transitions.__all__]
    assert not [found for found in public if isfunction(found) and found.__module__ in shared]


def test_every_verb_of_the_vocabulary_is_a_transition_and_the_other_way_round() -> None:
    assert {verb.verb for verb in VERBS} | TOLD_OF_OTHERS == set(Verb)
    assert not {verb.verb for verb in VERBS} & TOLD_OF_OTHERS
    assert {edge.verb for edge in EDGES} <= set(Verb)


def test_no_transition_opens_a_transaction_or_locks_a_row_itself() -> None:
    for path in FOLDER.glob("*.py"):
        names = {
            node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)
        }
        assert not names & {"atomic", "select_for_update", "on_commit", "set_rollback"}, path.name


def test_no_transition_calls_the_network_the_broker_or_sleeps() -> None:
    for path in [*FOLDER.glob("*.py"), *(FOLDER.parent / "decide").glob("*.py")]:
        tree = ast.parse(path.read_text())
        imported = {
            name.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [each.name for each in node.names]
            )
        }
        assert not imported & {
            "requests",
            "httpx",
            "redis",
            "celery",
            "channels",
            "socket",
            "time",
            "subprocess",
        }, path.name


def test_no_decision_asks_a_clock() -> None:
    for path in (FOLDER.parent / "decide").glob("*.py"):
        names = {
            node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)
        }
        assert not names & {"utcnow", "today", "monotonic"}, path.name
        assert "datetime.now" not in path.read_text(), path.name
