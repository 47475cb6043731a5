"""What every answer of `web` carries, how long people stay signed in, and what a lost Redis costs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import CommandError, call_command
from django.test import Client, RequestFactory

from config.asgi import may_wait
from config.caches import ForgivingRedisCache
from config.checks import visibility_timeout_exceeds_every_limit
from config.sessions import SEEN, keep_or_end

BEGAN_SECONDS = 1_700_000_000


@pytest.fixture
def someone(db: None) -> User:
    return User.objects.create_user("someone", password="a long enough password")


def request_of(someone: User) -> Any:
    request: Any = RequestFactory().get("/")
    request.user, request.session = someone, SessionStore()
    return request


def test_a_probe_answers_while_the_database_does(db: None) -> None:
    answer = Client().get("/readyz")

    assert (answer.status_code, answer.content) == (200, b"ready\n")


def test_every_answer_carries_the_strict_policy(client: Client) -> None:
    policy = client.get("/healthz").headers["Content-Security-Policy"]

    assert set(policy.split("; ")) == {
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "object-src 'none'",
    }


def test_a_session_in_use_is_noted_at_most_once_a_minute(someone: User) -> None:
    request = request_of(someone)

    keep_or_end(request, BEGAN_SECONDS)
    keep_or_end(request, BEGAN_SECONDS + 59)
    assert request.session[SEEN] == BEGAN_SECONDS

    keep_or_end(request, BEGAN_SECONDS + 60)
    assert request.session[SEEN] == BEGAN_SECONDS + 60


def test_a_session_past_its_absolute_limit_is_ended(someone: User, settings: Any) -> None:
    settings.FENCEPOST_SESSION_ABSOLUTE_SECONDS = 600
    request = request_of(someone)

    keep_or_end(request, BEGAN_SECONDS)
    keep_or_end(request, BEGAN_SECONDS + 600)
    assert request.user == someone

    keep_or_end(request, BEGAN_SECONDS + 601)
    assert isinstance(request.user, AnonymousUser)


def test_a_lost_redis_is_a_cache_that_forgets() -> None:
    cache = ForgivingRedisCache("redis://127.0.0.1:1/0", {})

    cache.set("a", 1)
    assert cache.get("a", "nothing") == "nothing"
    assert cache.get_many(["a"]) == {}
    assert cache.add("a", 1) is False
    assert cache.seen_lately("a", "b", 1.0, 60) == []


def test_a_visibility_timeout_shorter_than_a_limit_is_refused(settings: Any) -> None:
    assert visibility_timeout_exceeds_every_limit(None) == []

    settings.FENCEPOST_VISIBILITY_TIMEOUT_SECONDS = settings.FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS
    (error,) = visibility_timeout_exceeds_every_limit(None)
    assert "FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS" in error.msg


@pytest.mark.parametrize(
    ("path", "query", "waits"),
    [
        ("/api/v1/pools/billing/claim-next", b"", True),
        ("/api/v1/attempts/1", b"waitSeconds=20", True),
        ("/api/v1/attempts/1", b"", False),
        ("/tasks/1", b"waitSeconds=20", False),
    ],
)
def test_long_polls_have_threads_of_their_own(path: str, query: bytes, waits: bool) -> None:
    assert may_wait({"path": path, "query_string": query}) is waits


def test_the_first_administrator_is_made_once(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("first_admin")
    name, password = capsys.readouterr().out.splitlines()[0].split(" / ")
    assert Client().login(username=name, password=password)

    call_command("first_admin")
    assert capsys.readouterr().out == ""
    assert User.objects.filter(is_superuser=True).count() == 1


def test_no_administrator_is_made_whose_password_cannot_be_kept(db: None, tmp_path: Path) -> None:
    kept = tmp_path / "first-admin.json"
    kept.write_text("somebody's")
    with pytest.raises(CommandError, match="No administrator was made"):
        call_command("first_admin", "--credentials", str(kept))
    assert not User.objects.exists()
    assert kept.read_text() == "somebody's"

    kept.unlink()
    call_command("first_admin", "--credentials", str(kept))
    told = json.loads(kept.read_text())["users"]["admin"]
    assert Client().login(username=told["name"], password=told["password"])
    assert kept.stat().st_mode & 0o777 == 0o600


def test_production_settings_pass_the_deployment_checks() -> None:
    production = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "FENCEPOST_URL": "https://fencepost.example",
        "FENCEPOST_ALLOWED_HOSTS": "fencepost.example",
        "FENCEPOST_DEBUG": "false",
    }
    argv = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]

    done = subprocess.run(argv, env=production, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


def test_a_bad_setting_is_one_sentence_on_the_command_line() -> None:
    broken = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "FENCEPOST_DEBUG": "perhaps"}

    done = subprocess.run([sys.executable, "manage.py", "check"], env=broken, capture_output=True, text=True)

    assert done.returncode == 1
    assert done.stderr == "FENCEPOST_DEBUG must be true or false, not 'perhaps'.\n"
