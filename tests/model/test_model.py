"""The contract as a model: it holds in every reachable state, and stops holding when a check is taken out.

Needs Spin and a C compiler; `scripts/test` installs them where it can, and says so where it cannot.
"""

from __future__ import annotations

import pytest

from config.up.spin import INSTALL, found_spin
from tests.model.checking import MODEL, NotChecked, answer, checked
from tests.model.runs import ENDINGS, HONEST, LIMITS, MUTANTS, PROPERTIES, RUNS, Run

README = (MODEL / "README.md").read_text(encoding="utf-8")


def names(runs: tuple[Run, ...]) -> list[str]:
    return [run.name.replace(" ", "") for run in runs]


@pytest.fixture(scope="module")
def tools() -> tuple[str, str]:
    """Spin and a C compiler."""
    found = found_spin()
    if found is None:
        pytest.skip(f"the model waits for Spin and a C compiler: sudo {INSTALL}")
    return found


def test_the_contract_holds_in_every_reachable_state_and_every_statement_is_reached(
    tools: tuple[str, str],
) -> None:
    result = checked(HONEST, *tools)

    assert (result.broken, result.dead) == (None, ())
    assert f"{result.states:,} states" in README


@pytest.mark.parametrize("run", MUTANTS, ids=names(MUTANTS))
def test_a_model_without_one_check_breaks_the_property_that_the_check_is_for(
    run: Run, tools: tuple[str, str]
) -> None:
    assert checked(run, *tools).broken == run.breaks


@pytest.mark.parametrize("run", ENDINGS, ids=names(ENDINGS))
def test_a_good_ending_is_reached(run: Run, tools: tuple[str, str]) -> None:
    assert checked(run, *tools).broken == run.breaks


@pytest.mark.parametrize("run", LIMITS, ids=names(LIMITS))
def test_the_promise_about_the_sink_ends_where_it_is_said_to_end(run: Run, tools: tuple[str, str]) -> None:
    assert checked(run, *tools).broken == run.breaks


def test_every_check_that_can_be_taken_out_of_the_model_has_a_run() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in MODEL.glob("*.pml"))
    flags = {flag.partition("=")[0] for run in RUNS for flag in run.flags}

    asked = {
        word.removeprefix("defined(").removesuffix(")")
        for line in text.splitlines()
        if line.startswith(("#if", "#elif"))
        for word in line.split()[1:]
    }

    assert asked - {"REACHED"} == flags


def test_every_property_is_broken_by_a_mutant() -> None:
    assert {run.breaks for run in MUTANTS} == set(PROPERTIES.values())


@pytest.mark.parametrize("run", RUNS[1:], ids=names(RUNS[1:]))
def test_every_run_is_a_row_of_the_page(run: Run) -> None:
    assert f"| `{run.name}` | {run.says} | {run.breaks or 'all hold'} |" in README


@pytest.mark.parametrize(
    "output",
    [
        "error: max search depth too small\nState-vector 100 byte, depth reached 99, errors: 0\n 10 states, stored",
        "pan: reached -DMEMLIM bound\nState-vector 100 byte, depth reached 99, errors: 0\n 10 states, stored",
        "pan:1: invalid end state (at depth 3)\nState-vector 100 byte, depth reached 3, errors: 1\n 4 states, stored",
        "Segmentation fault",
    ],
)
def test_a_search_that_did_not_end_is_no_answer(output: str) -> None:
    with pytest.raises(NotChecked):
        answer(output)
