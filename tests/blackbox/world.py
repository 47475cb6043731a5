"""A pool of its own on the running server, with people, agents and tokens, made by commands."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.blackbox.speaking import Answer, Book, Commands, Person, Token

INPUT: dict[str, Any] = {"task": "Say that there are no invoices"}


@dataclass
class World:
    """Who takes part. ``one`` and ``two`` are agents; ``reviewer`` owns ``two``, ``preparer`` owns ``one``."""

    book: Book
    commands: Commands
    pool: str
    nobody: Token
    one: Token
    two: Token
    preparer: Token
    gateway: Token
    reviewer: Person
    operator: Person
    names: dict[str, str]

    def epoch(self) -> int:
        return int(self.preparer.http.get(f"/pools/{self.pool}").json()["schedulerEpoch"])

    def create(self, *tasks: dict[str, Any]) -> list[dict[str, Any]]:
        """Tasks, one with the small input when none is described."""
        written = [{"title": "A task", "input": INPUT, **task} for task in tasks or ({},)]
        return list(self.preparer.post("/tasks", {"pool": self.pool, "tasks": written}, 201)["tasks"])

    def claim(self, task: dict[str, Any], agent: Token | None = None, wanted: object = 200) -> Answer:
        """A claim of a task as it is now."""
        agent = agent or self.one
        version = agent.http.get(f"/tasks/{task['taskId']}").json()["stateVersion"]
        body = {"expectedStateVersion": version, "schedulerEpoch": self.epoch(), "ttlSeconds": 600}
        return agent.post(f"/tasks/{task['taskId']}/claim", body, wanted)

    def claimed(self, agent: Token | None = None, **task: Any) -> Answer:
        """A claim of a new task."""
        return self.claim(self.create(task)[0], agent)

    def move(
        self, grant: Answer, verb: str, wanted: object = 200, agent: Token | None = None, **body: Any
    ) -> Answer:
        """One verb of an attempt."""
        key = {"key": body.pop("key")} if "key" in body else {}
        sent = {"fence": grant["fence"], **body}
        return (agent or self.one).post(f"/attempts/{grant['attemptId']}/{verb}", sent, wanted, **key)

    def commit(self, grant: Answer, result: Any, wanted: object = 200) -> Answer:
        return self.move(grant, "commit", wanted, inputDigest=grant["inputDigest"], result=result)


def made(book: Book, ready: dict[str, Any], data: Path) -> World:
    """The pool and everybody in it."""
    commands, mark = Commands(book, data), uuid.uuid4().hex[:8]
    pool = f"blackbox-{mark}"
    names = {role: f"{role}.{mark}" for role in ("reviewer", "operator", "preparer")}
    passwords = {role: _password(commands.run("found", "person", names[role])) for role in names}
    commands.run("found", "pool", pool, "--unreviewed", "--auto", "--window", "3600")
    for role, right in (("reviewer", "REVIEWER"), ("operator", "OPERATOR"), ("preparer", "PREPARER")):
        commands.run("found", "right", names[role], pool, right)
    for agent, owner in (("one", "preparer"), ("two", "reviewer"), ("gate", "preparer")):
        commands.run("found", "agent", f"{agent}-{mark}", "--owner", names[owner], "--pool", pool)

    def token(name: str, *holder: str) -> Token:
        return Token(book, name, ready["apiUrl"], commands.run("token", "make", *holder))

    preparer = token("preparer", "--person", names["preparer"])
    return World(
        book,
        commands,
        pool,
        Token(book, "nobody", ready["apiUrl"], ""),
        token("one", "--agent", f"one-{mark}"),
        token("two", "--agent", f"two-{mark}"),
        preparer,
        token("gateway", "--agent", f"gate-{mark}", "--scope", "tool"),
        Person(book, ready["url"], names["reviewer"], passwords["reviewer"], preparer),
        Person(book, ready["url"], names["operator"], passwords["operator"], preparer),
        {**names, "one": f"one-{mark}", "two": f"two-{mark}"},
    )


def _password(said: str) -> str:
    """The password that the command showed once."""
    found = re.search(r"with the password (\S+)", said)
    if found is None:
        raise SystemExit(f"found person said no password: {said}")
    return found[1]
