"""docs/explanation/proofs.md names checks that are in the code and tests that exist."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "proofs.md").read_text(encoding="utf-8")
each_mutant = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)


@each_mutant
def test_a_row_of_the_page_names_the_check_the_test_and_the_command(mutant: Mutant) -> None:
    row = f"| {mutant.says} | `{mutant.path}` | `{mutant.test}` | `python -m tests.support.mutants {mutant.name}` |"
    assert row in PAGE


@each_mutant
def test_the_check_is_in_the_code_once_and_can_be_taken_out(mutant: Mutant) -> None:
    text = mutant.text()
    assert text != (ROOT / mutant.path).read_text(encoding="utf-8")
    if mutant.path.endswith(".py"):
        ast.parse(text)


@each_mutant
def test_the_test_that_turns_red_exists(mutant: Mutant) -> None:
    path, name = mutant.test.split("::")
    functions = {
        node.name
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    assert name in functions


def test_no_two_checks_have_one_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.long
@each_mutant
def test_taking_the_check_out_turns_the_test_red(mutant: Mutant) -> None:
    assert not mutant.survives()
