"""Runs of a profile's command in a real worktree, from the claim to the delivery."""

from __future__ import annotations

import json
import os
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connections
from django.db.models.functions import Now

from agents import running, runs
from agents.models import AttemptRun
from claims import evidence, transitions
from claims.models import Attempt, CanonicalCommit, Token
from claims.outcomes import Decided
from claims.vocabulary import ReviewPolicy, Verdict
from tests.agents.conftest import EDIT, Workers, git
from tests.support.world import judgement

TESTS = {
    "kind": "command",
    "name": "tests",
    "run": "echo '3 passed'; echo oops >&2; mkdir -p build; cp report.xml build/junit.xml",
}
REPORT = {"kind": "test-report", "name": "report", "path": "build/junit.xml"}


def text_of(sha256: str) -> str:
    return evidence.read_bytes(sha256, 1_000_000)[0].decode()


def test_a_run_delivers_the_diff_of_what_the_command_changed(workers: Workers) -> None:
    task = workers.task()
    workers.does(EDIT + 'pathlib.Path("new.txt").write_text("x\\n"); deliver(result={"pages": 1})')
    assert workers.run() == "delivered round 1"

    delivery = workers.delivery(task)
    item = workers.item(task, "diff")
    diff = text_of(item["sha256"])
    assert "+<p>No invoices yet.</p>" in diff
    assert (delivery.summary, delivery.needs, delivery.claims) == ("done", "look", {"1": "yes"})
    assert [(each["path"], each["standing"]) for each in delivery.facts["files"]] == [
        ("new.txt", "outside"),
        ("page.html", "inside"),
    ]
    (workers.folder / "the.diff").write_text(diff)
    git(workers.repository, "apply", "--check", str(workers.folder / "the.diff"))
    assert git(workers.repository, "show", f"{item['meta']['branch']}:new.txt") == "x\n"
    assert not list((workers.folder / "var" / "workspaces").iterdir())


def test_the_command_sees_the_contract_and_nothing_of_the_server(workers: Workers) -> None:
    workers.task()
    workers.does(
        EDIT
        + f"pathlib.Path({str(workers.folder / 'seen.json')!r}).write_text(json.dumps([dict(os.environ), grant])); deliver()"
    )
    workers.run()
    environment, grant = json.loads((workers.folder / "seen.json").read_text())
    fence = json.loads(environment["FENCEPOST_FENCE"])
    assert grant["fence"] == fence
    assert grant["attemptId"] == fence["attemptId"]
    assert (grant["round"], grant["lastReview"], environment["GREETING"]) == (1, None, "hello")
    assert environment["FENCEPOST_TOKEN"].startswith("fp_")
    assert not {
        name
        for name in environment
        if "SECRET" in name or "DATABASE" in name or "REDIS" in name or "BROKER" in name
    }
    token = Token.objects.get(attempt_id=grant["attemptId"])
    assert token.expires_at is not None
    assert token.revoked_at is not None


def test_commands_and_reports_that_the_worker_ran_are_facts(workers: Workers) -> None:
    task = workers.task(evidence=[{"kind": "diff"}, TESTS, REPORT])
    report = '<testsuite><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite>'
    workers.does(EDIT + f'pathlib.Path("report.xml").write_text({report!r}); deliver()')
    workers.run()
    delivery = workers.delivery(task)
    assert delivery.facts["commands"][0]["exitCode"] == 0
    assert delivery.facts["commands"][0]["ranBy"] == "worker"
    assert (delivery.facts["tests"]["executed"], delivery.facts["tests"]["failed"]) == (2, 1)
    assert text_of(workers.item(task, "tests")["sha256"]) == "3 passed\noops\n"


def test_a_report_that_the_command_left_does_not_pass_for_one_of_the_workers(workers: Workers) -> None:
    workers.task(evidence=[{"kind": "diff"}, {"kind": "command", "name": "tests", "run": "true"}, REPORT])
    workers.does(
        EDIT + 'os.mkdir("build"); pathlib.Path("build/junit.xml").write_text("<testsuite/>"); deliver()'
    )
    assert "Missing: test-report report" in workers.run()


def test_an_agent_cannot_say_that_a_worker_ran_its_command(workers: Workers) -> None:
    task = workers.task(evidence=[{"kind": "command", "name": "tests"}])
    workers.does(
        EDIT + '(out / "t.log").write_text("all fine"); '
        'deliver(evidence=[{"path": "t.log", "kind": "command", "name": "tests", "criteria": [1, 9], "meta": {"ranBy": "worker", "exitCode": 0}}])'
    )
    workers.run()
    fact = workers.delivery(task).facts["commands"][0]
    assert (fact["ranBy"], fact["exitCode"]) == ("agent", None)
    assert workers.item(task, "tests")["criteria"] == [1]


@pytest.mark.parametrize(
    ("prepare", "path"),
    [
        ("", "../grant.json"),
        ("", "/etc/passwd"),
        ('os.symlink("/etc/passwd", out / "link.txt"); ', "link.txt"),
        ('os.symlink("/etc", out / "folder"); ', "folder/passwd"),
        ('os.mkfifo(out / "pipe"); ', "pipe"),
        ('os.mkdir(out / "folder"); ', "folder"),
        ("", "missing.txt"),
        ("", ""),
        ("", "a\\0b"),
    ],
)
def test_evidence_never_comes_from_outside_of_its_folder(workers: Workers, prepare: str, path: str) -> None:
    task = workers.task()
    workers.does(EDIT + prepare + f'deliver(evidence=[{{"path": "{path}", "kind": "file", "name": "it"}}])')
    assert workers.run().startswith("failed: ")
    assert workers.state(task) == "OPEN"


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"evidence": 3}',
        '{"result": 1e999}',
        '{"evidence": [{"kind": "spell", "path": "x"}]}',
        "\\xff",
    ],
)
def test_a_delivery_json_that_is_none_fails_the_attempt_in_words(workers: Workers, text: str) -> None:
    task = workers.task()
    workers.does(EDIT + f'(out / "delivery.json").write_bytes(b{text!r})')
    assert workers.run().startswith("failed: ")
    assert workers.state(task) == "OPEN"


def test_exit_65_means_that_the_task_cannot_be_done(workers: Workers) -> None:
    task = workers.task()
    workers.does('print("no such page"); sys.exit(65)')
    assert "no such page" in workers.run()
    assert workers.state(task) == "HELD"


def test_any_other_exit_lets_another_try(workers: Workers) -> None:
    task = workers.task()
    workers.does("sys.exit(3)")
    assert "ended with 3" in workers.run()
    assert workers.state(task) == "OPEN"


def test_a_round_that_was_sent_back_goes_on_from_its_own_work(workers: Workers) -> None:
    task = workers.task(acceptance=[{"text": "The page says so"}, {"text": "Nothing else changes"}])
    workers.does(EDIT + "deliver()")
    workers.run()
    first = workers.delivery(task)
    sent_back = transitions.request_changes(
        workers.world.person(workers.world.reviewer),
        first.id,
        judgement(first, Verdict.NOT_MET, "say it louder"),
    )
    assert isinstance(sent_back, Decided), sent_back
    workers.does(
        'assert "No invoices yet." in pathlib.Path("page.html").read_text(); assert grant["lastReview"]["note"] == "say it louder"; '
        'pathlib.Path("page.html").write_text("<h1>Billing</h1>\\n<p>NO INVOICES YET.</p>\\n"); deliver(summary="louder")'
    )
    assert workers.run() == "delivered round 2"
    diff = text_of(workers.item(task, "diff")["sha256"])
    assert "+<p>NO INVOICES YET.</p>" in diff
    assert "-<p>No invoices yet." not in diff


def test_a_task_without_review_is_committed_in_an_empty_folder(workers: Workers) -> None:
    type(workers.world.pool).objects.filter(id=workers.world.pool.id).update(allows_unreviewed=True)
    type(workers.profile).objects.update(repository="")
    task = workers.world.task(input={"task": "add"}, title="Add", review_policy=ReviewPolicy.NONE)
    workers.does('assert os.listdir() == []; deliver(result={"sum": 3})')
    assert workers.run() == "committed"
    assert CanonicalCommit.objects.filter(task_id=task).exists()


def test_a_command_past_its_time_is_ended_with_all_it_started(workers: Workers) -> None:
    workers.task()
    type(workers.profile).objects.update(time_limit_seconds=1)
    pids = workers.folder / "pids"
    workers.does(
        "import subprocess, time\n"
        'child = subprocess.Popen(["sleep", "60"], start_new_session=True)\n'
        f'pathlib.Path({str(pids)!r}).write_text(f"{{os.getpid()}} {{child.pid}}"); time.sleep(60)'
    )
    began = time.monotonic()
    assert "time limit" in workers.run()
    assert time.monotonic() - began < 8
    assert not [pid for pid in pids.read_text().split() if Path(f"/proc/{pid}").exists()]


def test_a_command_that_takes_too_much_memory_is_ended(workers: Workers) -> None:
    workers.task()
    type(workers.profile).objects.update(memory_mb=80)
    workers.does('import time; held = b"x" * 200_000_000; time.sleep(30)')
    assert "memory" in workers.run()


def test_output_beyond_its_limit_is_dropped(workers: Workers) -> None:
    task = workers.task()
    workers.does(EDIT + 'print("x" * 1_000_000); deliver()')
    assert workers.run() == "delivered round 1"
    assert workers.item(task, "agent-log")["size"] == 65_536


def test_losing_the_claim_ends_the_command(workers: Workers) -> None:
    task = workers.task()
    started = workers.folder / "started"
    os.mkfifo(started)
    workers.does(f"import time; pathlib.Path({str(started)!r}).write_text('now'); time.sleep(60)")
    (attempt_id,) = workers.sent()

    def release() -> None:
        started.read_bytes()  # a pipe: waits until the command opens its other end
        answer = transitions.release_quiet(
            workers.world.person(workers.world.operator),
            task,
            workers.world.sighting(task, even_if_live=True),
        )
        assert answer.state == "OPEN", answer
        connections.close_all()

    beside = threading.Thread(target=release)
    beside.start()
    began = time.monotonic()
    outcome = running.run(attempt_id)
    beside.join()
    assert time.monotonic() - began < 15
    assert "generation" in outcome
    assert AttemptRun.objects.get(attempt_id=attempt_id).ended_at is not None
    assert workers.state(task) == "OPEN"


def test_only_one_delivery_of_a_message_runs_the_attempt(workers: Workers) -> None:
    workers.task()
    (attempt_id,) = workers.sent()
    assert runs.begin(attempt_id) is not None
    assert runs.begin(attempt_id) is None


def test_a_run_whose_worker_was_lost_is_taken_over_and_its_loser_hears_of_it(workers: Workers) -> None:
    task = workers.task()
    (attempt_id,) = workers.sent()
    lost = runs.begin(attempt_id)
    assert lost is not None
    assert runs.beat(lost)
    assert workers.sent() == []
    AttemptRun.objects.update(heartbeat_at=Now() - timedelta(minutes=1), sent_at=Now() - timedelta(minutes=1))
    workers.does(EDIT + "deliver()")
    assert workers.run() == "delivered round 1"
    assert not runs.beat(lost)
    assert Attempt.objects.filter(task_id=task).count() == 1


def test_an_attempt_that_takes_every_worker_with_it_is_failed(workers: Workers) -> None:
    task = workers.task()
    (attempt_id,) = workers.sent()
    AttemptRun.objects.update(starts=runs.MOST_STARTS)
    assert "workers were lost" in running.run(attempt_id)
    assert workers.state(task) == "OPEN"


def test_workers_leave_alone_what_an_agent_claimed_for_itself(workers: Workers) -> None:
    workers.world.claimed(workers.agent)
    assert workers.sent() == []


def test_workers_run_what_a_person_gave_to_their_agent(workers: Workers) -> None:
    task = workers.task()
    other = workers.world.agent()
    workers.world.claimed(other, task)
    given = transitions.reassign(
        workers.world.person(workers.world.operator),
        task,
        workers.world.sighting(task, even_if_live=True),
        workers.agent.name,
    )
    assert workers.sent() == [given.fence.attempt_id]


def test_a_profile_claims_no_more_than_it_has_slots_for(workers: Workers) -> None:
    for _ in range(3):
        workers.task()
    assert len(workers.sent()) == 1
    assert workers.sent() == []


def test_hidden_changes_are_found_whatever_the_command_did_to_the_index(workers: Workers) -> None:
    task = workers.task()
    workers.does(
        "import subprocess\n"
        'subprocess.run(["git", "update-index", "--assume-unchanged", "page.html"], check=True)\n'
        + EDIT
        + "deliver()"
    )
    workers.run()
    assert workers.delivery(task).facts["diff"]["added"] == 1


def test_the_environment_of_the_tests_is_not_what_a_command_is_given(workers: Workers) -> None:
    workers.task()
    os.environ["FENCEPOST_SECRET_OF_THE_TEST"] = "x"
    try:
        workers.does(EDIT + 'assert "FENCEPOST_SECRET_OF_THE_TEST" not in os.environ; deliver()')
        assert workers.run() == "delivered round 1"
    finally:
        del os.environ["FENCEPOST_SECRET_OF_THE_TEST"]


WITH_GIT = """
import subprocess
def git(*words):
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", *who, *words], capture_output=True, text=True).stdout.strip()
git("config", "filter.mine.clean", "touch RAN; cat")
git("commit", "--all", "--message", "straight to main")
git("update-ref", "refs/heads/main", "HEAD")
git("push", "--force", "origin", "HEAD:main")
attributes = pathlib.Path(git("rev-parse", "--git-path", "info/attributes"))
attributes.parent.mkdir(exist_ok=True)
attributes.write_text("*.html filter=mine")
p.write_text(p.read_text() + "<p>More.</p>\\n")
deliver()
"""


def test_nothing_a_command_does_with_git_reaches_the_repository_or_the_worker(
    workers: Workers, tmp_path: Path
) -> None:
    workers.does(EDIT + WITH_GIT.replace("RAN", str(tmp_path / "ran")))
    main = git(workers.repository, "rev-parse", "main")
    config = (workers.repository / ".git" / "config").read_text()
    task = workers.task()
    assert workers.run() == "delivered round 1"
    assert git(workers.repository, "rev-parse", "main") == main
    assert (workers.repository / ".git" / "config").read_text() == config
    assert not (tmp_path / "ran").exists()
    assert "+<p>No invoices yet.</p>\n+<p>More.</p>" in text_of(workers.item(task, "diff")["sha256"])
