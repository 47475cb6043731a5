"""What the test command says in the end, and where its status comes from."""

import pytest

from config.up import testing


def test_everything_passed_is_status_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert testing.summarise([("ruff", "passed", 0.1), ("tests", "passed", 2.0)]) == 0
    assert capsys.readouterr().out.endswith("Everything passed.\n")


@pytest.mark.parametrize("outcome", ["failed (1)", "found no test"])
def test_one_failure_or_an_empty_tier_is_named_and_is_status_one(
    outcome: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert testing.summarise([("ruff", "passed", 0.1), ("race", outcome, 2.0)]) == 1
    assert capsys.readouterr().out.endswith("Failed: race.\n")


def test_a_tier_that_waits_for_a_browser_fails_in_ci_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = [("tests", "passed", 1.0), ("browser", "waits for a Chromium", 0.0)]

    monkeypatch.delenv("CI", raising=False)
    assert testing.summarise(results) == 0
    assert "browser did not run" in capsys.readouterr().out

    monkeypatch.setenv("CI", "1")
    assert testing.summarise(results) == 1


def test_a_model_that_waits_for_spin_is_named_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "1")

    assert testing.summarise([("tests", "passed", 1.0), ("model", "waits for Spin", 0.0)]) == 0
    assert "model did not run" in capsys.readouterr().out


def test_an_ordinary_user_is_told_the_one_command_that_brings_a_browser(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(testing.os, "getuid", lambda: 1000)

    testing.install("Chromium", "the browser tests", testing.CHROMIUM_INSTALL)

    assert capsys.readouterr().out == (
        "There is no Chromium here; the browser tests wait for one: "
        "sudo apt-get install --yes --no-install-recommends chromium\n"
    )


def test_every_tier_is_named_once_and_together_they_are_all_tests() -> None:
    marks = {name: expression for name, expression, _ in testing.TIERS}

    assert marks == {
        "tests": "not race and not chaos and not browser",
        "race": "race and not chaos",
        "browser": "browser and not chaos",
        "chaos": "chaos",
    }
