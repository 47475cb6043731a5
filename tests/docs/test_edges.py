"""Every transition goes through the kernel and names its edges, and they are edges of the table."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from inspect import isfunction
from pathlib import Path
from typing import Any

import pytest

from claims import transitions
from claims.lifecycle import EDGES
from claims.transitions import creating, deciding, delivering, granting, holding, operating, staging
from claims.vocabulary import Verb

MODULES = (creating, deciding, delivering, granting, holding, operating, staging)
FOLDER = Path(transitions.__file__).parent
NAMED = re.compile(r"\b([A-Z]+|new) -> ([A-Z]+)\b")


def verbs() -> Iterator[Callable[..., Any]]:
    """Every function of the transitions that ``kernel.verb`` made one."""
    for module in MODULES:
        for found in vars(module).values():
            if isfunction(found) and hasattr(found, "edges") and found.__module__ == module.__name__:
                yield found


def edges_of(verb: Verb) -> set[str]:
    return {str(edge) for edge in EDGES if edge.verb is verb}


VERBS = list(verbs())


def sentence_of(verb: Verb) -> str:
    """The docstring that promises a verb: its own, or that of the public function around it."""
    public = getattr(transitions, verb.value.replace("-", "_"))
    return public.__doc__ or ""


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.verb.value)
def test_a_verb_declares_exactly_the_edges_that_the_table_gives_it(verb: Any) -> None:
    assert set(verb.edges) == edges_of(verb.verb)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.verb.value)
def test_a_docstring_opens_with_its_edges_or_says_that_it_has_none(verb: Any) -> None:
    first = sentence_of(verb.verb).splitlines()[0]
    named = {f"{source} -> {target}" for source, target in NAMED.findall(first)}
    assert named <= edges_of(verb.verb)
    assert bool(named) is bool(edges_of(verb.verb))
    assert bool(named) or first.startswith("No edge.")


def test_every_public_function_of_the_transitions_goes_through_the_kernel() -> None:
    through = {verb.verb.value.replace("-", "_") for verb in VERBS}
    public = {name for name in transitions.__all__ if name.islower()}
    assert public == through


def test_every_verb_of_the_vocabulary_is_a_transition_and_the_other_way_round() -> None:
    assert {verb.verb for verb in VERBS} == set(Verb)
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
