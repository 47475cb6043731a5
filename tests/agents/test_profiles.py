"""`manage.py agent_profile`."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from agents.models import AgentProfile
from tests.agents.conftest import Workers


def test_a_profile_is_made_changed_and_listed(workers: Workers, capsys: pytest.CaptureFixture[str]) -> None:
    agent, pool = workers.world.agent(), workers.world.pool
    words = [
        "set",
        agent.name,
        pool.name,
        "--repository",
        "pages",
        "--concurrency",
        "3",
        "--variable",
        "A=b=c",
    ]
    call_command("agent_profile", *words, "--command", "/bin/echo", "--loud")
    call_command("agent_profile", "set", agent.name, pool.name, "--memory-mb", "0")
    profile = AgentProfile.objects.get(agent=agent)
    assert (profile.command, profile.environment) == (["/bin/echo", "--loud"], {"A": "b=c"})
    assert (profile.concurrency, profile.memory_mb) == (3, 0)

    capsys.readouterr()
    call_command("agent_profile", "list")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["agent"] for line in lines} == {agent.name, workers.agent.name}


def test_a_profile_is_switched_off_and_on(workers: Workers) -> None:
    words = [workers.agent.name, workers.world.pool.name]
    call_command("agent_profile", "disable", *words)
    workers.task()
    assert workers.sent() == []
    call_command("agent_profile", "enable", *words)
    assert len(workers.sent()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["set", "nobody", "nowhere", "--command", "true"],
        ["enable", "nobody", "nowhere"],
    ],
)
def test_what_is_not_there_is_told_in_one_sentence(workers: Workers, words: list[str]) -> None:
    with pytest.raises(CommandError, match="There is no"):
        call_command("agent_profile", *words)


def test_a_profile_without_a_command_or_with_no_slot_is_refused(workers: Workers) -> None:
    agent, pool = workers.world.agent().name, workers.world.pool.name
    with pytest.raises(CommandError):
        call_command("agent_profile", "set", agent, pool)
    with pytest.raises(CommandError):
        call_command("agent_profile", "set", agent, pool, "--concurrency", "0", "--command", "true")
