"""The demo's seed: what it makes, and that a second one changes nothing."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.auth import authenticate
from django.core.management import call_command

from agents import dispatching, running, sowing
from agents.models import AgentProfile
from claims import tokens
from claims.models import Agent, Delivery, Membership, Pool, Task, Token
from claims.vocabulary import State
from tests.agents.conftest import git


@pytest.fixture
def kept(transactional_db: None, settings: LazySettings, tmp_path: Path) -> Path:
    """Where credentials are kept; repositories and data are the test's own."""
    settings.FENCEPOST_VAR = tmp_path
    settings.FENCEPOST_REPOSITORIES = tmp_path / "repositories"
    return tmp_path / "secrets" / "demo.json"


def everything() -> dict[str, list[object]]:
    """All rows that a seed could change."""
    models = (Task, Pool, Agent, Membership, AgentProfile, Token)
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in models}


def test_a_second_seed_changes_nothing_and_writes_the_same_credentials(kept: Path) -> None:
    call_command("demo_seed", "--credentials", str(kept))
    before, written = everything(), kept.read_text()
    call_command("demo_seed", "--credentials", str(kept))
    assert everything() == before
    assert kept.read_text() == written
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_the_credentials_work_and_no_agent_belongs_to_the_reviewer(kept: Path) -> None:
    call_command("demo_seed", "--credentials", str(kept))
    told = json.loads(kept.read_text())
    assert set(told["users"]) == {"admin", "reviewer", "operator", "preparer"}
    for user in told["users"].values():
        assert authenticate(username=user["name"], password=user["password"]) is not None
    for name, token in told["tokens"].items():
        known = tokens.recognise(token)
        assert known is not None
        assert set(known.pools) == {"billing", "sandbox"}
        assert known.scopes == ({"read", "prepare"} if name == "preparer" else {"read", "claim", "deliver"})
    owners = set(Agent.objects.values_list("owner__username", flat=True))
    assert told["users"]["reviewer"]["name"] not in owners


def test_the_sleeper_holds_its_task_and_the_workers_first_tasks_are_theirs(kept: Path) -> None:
    sowing.sow(kept)
    claimed = dict(Task.objects.filter(state=State.CLAIMED).values_list("node_id", "runner__name"))
    assert claimed == {sowing.SLEEPERS_TASK: "sleeper"} | {
        f"sandbox-{name}": "careful" for name in ("digest", "harbours", "readings")
    }
    assert Task.objects.filter(pool__name="billing", state=State.OPEN).count() == 9


def test_a_task_of_the_demo_is_really_done(kept: Path, settings: LazySettings) -> None:
    settings.FENCEPOST_CHROMIUM = ""
    settings.STORAGES = {
        **settings.STORAGES,
        "evidence": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(kept.parent)},
        },
    }
    sowing.sow(kept)
    AgentProfile.objects.filter(pool__name="sandbox").delete()
    AgentProfile.objects.filter(agent__name="careful").update(concurrency=1, environment={})
    AgentProfile.objects.filter(agent__name="careless").update(is_enabled=False)
    (attempt_id,) = dispatching.dispatch()
    assert running.run(attempt_id) == "delivered round 1"
    delivery = Delivery.objects.get()
    facts = delivery.facts
    assert facts["tests"]["executed"] > 0
    assert facts["tests"]["failed"] == 0
    assert {"name": "tests", "ranBy": "worker", "exitCode": 0}.items() <= facts["commands"][0].items()
    assert {each["standing"] for each in facts["files"]} == {"inside"}
    assert facts["flags"] == []


def test_without_agents_workers_leave_everything_alone(kept: Path) -> None:
    sowing.sow(kept, with_agents=False)
    assert not AgentProfile.objects.filter(is_enabled=True).exists()
    assert Task.objects.filter(pool__name="sandbox", state=State.OPEN).count() == 3


def test_without_a_browser_no_agent_has_its_label(kept: Path, settings: LazySettings) -> None:
    settings.FENCEPOST_CHROMIUM = ""
    sowing.sow(kept)
    assert not Agent.objects.filter(labels__contains=["browser"]).exists()
    settings.FENCEPOST_CHROMIUM = "/usr/bin/chromium"
    sowing.sow(kept)
    assert Agent.objects.filter(labels__contains=["browser"]).count() == 2


def test_a_lost_credentials_file_gives_new_ones(kept: Path) -> None:
    sowing.sow(kept)
    kept.write_text("not json")
    sowing.sow(kept)
    user = json.loads(kept.read_text())["users"]["reviewer"]
    assert authenticate(username=user["name"], password=user["password"]) is not None


def test_the_repository_has_one_commit_that_is_the_same_everywhere(
    kept: Path, settings: LazySettings
) -> None:
    sowing.sow(kept)
    repository = Path(settings.FENCEPOST_REPOSITORIES) / "billing"
    first = git(repository, "rev-parse", "main")
    assert git(repository, "rev-list", "--count", "main").strip() == "1"
    sowing.sow(kept)
    assert git(repository, "rev-parse", "main") == first
    assert git(repository, "status", "--porcelain") == ""
