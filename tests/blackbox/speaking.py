"""Speaking with a running server from outside: tokens, people at the browser's forms, and commands.

Every answer is printed as one line and entered in a book: which refusal was seen, and with what.
"""

from __future__ import annotations

import re
import subprocess
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60.0
_SECRET = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_CODE = re.compile(r"(?:CommandError: )?([A-Z][A-Z_]+): ")


def say(line: str) -> None:
    """One line for whoever looks on."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@dataclass(frozen=True)
class Answer:
    """What was answered; ``code`` is empty for a success."""

    status: int
    body: Any
    code: str = ""

    def __getitem__(self, name: str) -> Any:
        return self.body[name]


@dataclass
class Book:
    """Every answer so far: by code how it was first seen, and what was not as the contract has it."""

    seen: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    answers: int = 0

    def enter(self, who: str, what: str, answer: Answer, wanted: object = None) -> Answer:
        """Print one line; ``wanted`` is the status or the code that the contract says."""
        self.answers += 1
        told = _told(answer)
        say(f"{who:<10} {what:<62} {answer.status} {answer.code} {told}".rstrip())
        if answer.code:
            self.seen.setdefault(answer.code, f"{answer.status} {told}")
        if wanted is not None and wanted not in (answer.status, answer.code):
            self.wrong.append(f"{who} {what}: {answer.status} {answer.code}, not {wanted}: {answer.body}")
        if answer.code and isinstance(answer.body, dict) and "requestId" in answer.body:
            self._complete(what, answer)
        return answer

    def _complete(self, what: str, answer: Answer) -> None:
        if answer.body["retry"] not in ("same_key", "new_key", "never") or not answer.body["detail"]:
            self.wrong.append(f"{what}: {answer.code} without retry or detail")
        if answer.status == 409 and answer.code not in WITHOUT_CURRENT and "current" not in answer.body:
            self.wrong.append(f"{what}: {answer.code} without current")


WITHOUT_CURRENT = {"IN_PROGRESS"}


def _told(answer: Answer) -> str:
    if not answer.code or not isinstance(answer.body, dict):
        return ""
    body = answer.body
    current = body.get("current") or {}
    brief = " ".join(
        f"{name}={current[name]}" for name in ("state", "claimGeneration", "gate") if name in current
    )
    if "effect" in current:
        brief += f" effect={current['effect'].get('state', '')}"
    actions = ",".join(body.get("legalActions", []))
    return f"retry={body.get('retry', '-')} legalActions={actions or '-'} current[{brief.strip()}]"


class Token:
    """The holder of one bearer token."""

    def __init__(self, book: Book, name: str, url: str, token: str) -> None:
        self.book, self.name = book, name
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=SECONDS)

    def call(self, method: str, path: str, body: Any = None, wanted: object = None, **options: Any) -> Answer:
        """One call; every POST has a key of its own unless ``key`` names one."""
        key = options.pop("key", uuid.uuid4().hex if method == "POST" else None)
        headers = {**({"Idempotency-Key": key} if key else {}), **options.pop("headers", {})}
        sent = {"json": body} if body is not None else {}
        got = self.http.request(method, path, headers=headers, **sent, **options)
        read = got.json() if "json" in got.headers.get("Content-Type", "") and got.content else got.text
        code = str(read.get("code", "")) if isinstance(read, dict) and not got.is_success else ""
        shown = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{40,}", "…", f"{method} {path}")
        return self.book.enter(self.name, shown, Answer(got.status_code, read, code), wanted)

    def get(self, path: str, wanted: object = 200) -> Answer:
        return self.call("GET", path, wanted=wanted)

    def post(self, path: str, body: Any, wanted: object = 200, **options: Any) -> Answer:
        return self.call("POST", path, body, wanted, **options)


class Person:
    """Somebody who signed in through the browser's form. What a page refuses is read back by a token."""

    def __init__(self, book: Book, url: str, name: str, password: str, reader: Token) -> None:
        self.book, self.name, self.reader = book, name.partition(".")[0], reader
        self.http = httpx.Client(base_url=url, timeout=SECONDS, follow_redirects=False)
        words = {"username": name, "password": password, "next": ""}
        signed = self._send("/signin", "/signin", words)
        book.enter(self.name, "signs in by the form", Answer(signed.status_code, ""), 302)

    def fill(self, page: str, action: str, task_id: str, wanted: object = 302, **fields: Any) -> Answer:
        """Send one form of a page; a refusal's code is the newest one kept about the task."""
        before = len(refusals_of(self.reader, task_id))
        got = self._send(page, action, {"key": uuid.uuid4().hex, **fields})
        kept = refusals_of(self.reader, task_id)
        newest = kept[0] if len(kept) > before else {}
        answer = Answer(got.status_code, newest or got.text[:200], str(newest.get("code", "")))
        return self.book.enter(self.name, f"form {fields.get('do', '')} of {_short(page)}", answer, wanted)

    def _send(self, page: str, action: str, fields: dict[str, Any]) -> httpx.Response:
        secret = _SECRET.search(self.http.get(page, follow_redirects=True).text)
        sent = {**fields, "csrfmiddlewaretoken": secret[1] if secret else ""}
        return self.http.post(action, data=sent, headers={"Referer": str(self.http.base_url)})


def refusals_of(reader: Token, task_id: str) -> list[dict[str, Any]]:
    """What was refused about a task, newest first, as the API tells it to everybody in its pool."""
    got = reader.http.get(f"/tasks/{task_id}/refusals", params={"limit": 200})
    return list(got.json()["refusals"]) if got.is_success else []


def _short(path: str) -> str:
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{40,}", "…", path)


@dataclass
class Commands:
    """``manage.py`` beside the running server."""

    book: Book
    data: Path

    def run(self, *words: str, wanted: object = 200, about: tuple[Token, str] | None = None) -> str:
        """What a command printed; a refusal's code is read from its sentence, the rest from the task's own."""
        argv = [str(ROOT / "scripts" / "manage"), "--data", str(self.data), *words]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        said = done.stderr.strip().splitlines()[-1] if done.returncode and done.stderr.strip() else ""
        found = _CODE.search(said)
        body: Any = (
            {"retry": "(its sentence)", "current": {"state": said.partition(" Now: ")[2][:60]}}
            if said
            else ""
        )
        if said and about is not None:
            body = refusals_of(*about)[0]
        answer = Answer(400 if done.returncode else 200, body, found[1] if found else "")
        shown = re.sub(r"[0-9a-f]{20,}", "…", f"manage.py {' '.join(words)}")[:62]
        self.book.enter("command", shown, answer, wanted)
        if done.returncode and wanted == 200:
            say(done.stderr.strip()[-1_000:])
            self.book.wrong.append(f"manage.py {' '.join(words)}: {done.stderr.strip()[-300:]}")
        return done.stdout.strip()
