"""docs/explanation/proofs.md and the mutants of the code: what it names is there, and ten of them are killed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from tests.support.mutants import MUTANTS, SAMPLE, Mutant, known

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "proofs.md").read_text(encoding="utf-8")
KILLERS = known.killers()
each_mutant = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)


@lru_cache
def _functions(path: str) -> frozenset[str]:
    """The names of the functions in a file of tests."""
    nodes = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef))


def test_the_page_holds_the_table_as_the_script_prints_it() -> None:
    assert "\n".join(known.table(MUTANTS)) in PAGE


def test_the_page_says_how_many_mutants_there_are() -> None:
    told = re.search(r"(\d+) mutants", PAGE)
    assert told is not None
    assert int(told[1]) == len(MUTANTS)


@each_mutant
def test_the_check_is_in_the_code_once_and_can_be_taken_out(mutant: Mutant) -> None:
    text = mutant.text()
    assert text != (ROOT / mutant.path).read_text(encoding="utf-8")
    ast.parse(text)


@each_mutant
def test_a_mutant_has_a_test_that_kills_it_or_a_reason_why_none_can(mutant: Mutant) -> None:
    assert (mutant.name in KILLERS) != bool(mutant.equivalent)


@each_mutant
def test_the_tests_of_a_mutant_exist(mutant: Mutant) -> None:
    for test in (*mutant.tier, KILLERS.get(mutant.name, mutant.tier[0])):
        path, _, name = test.partition("::")
        assert (ROOT / path).is_file()
        assert not name or name.partition("[")[0] in _functions(path)


def test_no_two_mutants_have_one_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_the_sample_of_ten_is_killed() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.support.mutants", *SAMPLE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(SAMPLE) == 10
    assert "10 of 10 killed" in ran.stdout, ran.stdout + ran.stderr
