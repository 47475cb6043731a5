"""What the table of `bench/run` says, and that its page names the same bounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.__main__ import STEPS
from bench.figures import Figure, Goal, Slice, compare, table

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "performance.md").read_text()


def measured(floors: list[float], rates: list[float], flaws: tuple[str, ...] = ()) -> Figure:
    """The figure of rounds whose slices are given in the order in which they are taken."""

    def slices(values: list[float], flaws: tuple[str, ...] = ()) -> Callable[[], Slice]:
        following = iter(values)
        return lambda: Slice(next(following), flaws)

    return compare(
        "claims", Goal(0.4, 0.65), len(rates), slices(floors), slices(rates, flaws), lambda _: None
    )


def test_a_ratio_is_taken_to_the_mean_of_the_floors_around_it() -> None:
    assert measured([90.0, 99.0], [63.0]).ratio == pytest.approx(63 / 94.5)


def test_a_round_whose_floors_differ_by_more_than_a_tenth_is_thrown_away() -> None:
    figure = measured([100, 112, 100, 105], [90, 50])

    assert figure.ratio == pytest.approx(50 / 102.5)
    assert "1 of 2 rounds" in figure.spread


def test_without_a_kept_round_nothing_is_reached() -> None:
    assert measured([100, 200], [100]).cells()[-1] == "nothing kept"


def test_a_figure_of_an_incorrect_run_is_void_whatever_its_rate() -> None:
    figure = measured([100, 100], [100], flaws=("2 attempts of 1 generation",))

    assert figure.cells()[-1] == "VOID"
    assert "claims is void: 2 attempts of 1 generation" in table([figure])


@pytest.mark.parametrize(("rates", "reached"), [([39], "no"), ([40], "first step"), ([65], "goal")])
def test_a_bound_is_reached_where_it_is_met(rates: list[float], reached: str) -> None:
    assert measured([100, 100], rates).cells()[-1] == reached


def test_a_cost_is_reached_from_above() -> None:
    goal = Goal(3.5, 2.0, at_most=True)

    assert [goal.reached(cost) for cost in (4.0, 3.0, 2.0)] == ["no", "first step", "goal"]


@pytest.mark.parametrize("step", STEPS)
def test_each_step_is_on_the_page(step: str) -> None:
    assert f"| `{step}` |" in PAGE
