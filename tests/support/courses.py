"""A review by keyboard alone: six criteria, twelve files, screenshots of two rounds. Tests walk it; `bench/desk.py` times it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from claims import transitions
from claims.canonical import Item
from claims.decide import Judgement, VerdictGiven
from claims.models import Agent, Delivery, Pool, Task
from claims.vocabulary import Verdict
from tests.support import deliveries
from tests.unit.reviews.world import as_person, done

CRITERIA, FILES = 6, 12
MOST_PRESSES = 40
SHOT_KEYS = ("1", "2", "w", "b", "b")
"""Both widths, then the round before: by swipe, and by blinking there and back."""


@dataclass
class Keyboard:
    """Somebody's hands: counts what they press."""

    page: Page
    presses: int = 0

    def press(self, chord: str) -> None:
        """One press for each key of the chord, those that are held down included."""
        self.presses += len(chord.split("+"))
        self.page.keyboard.press(chord)


def specification() -> dict[str, Any]:
    """Six criteria, all of them about the diff and the screenshots."""
    criteria = [
        {"text": f"Part {number} of the page is as asked.", "proof": "the screenshots"}
        for number in range(1, CRITERIA + 1)
    ]
    return deliveries.specification(acceptance=criteria, scope={"files": ["app/**"], "excluded": []})


def diff(word: str) -> bytes:
    """Twelve files of forty changed lines."""
    lines = "".join(f"+value_{number} = '{word}'\n" for number in range(40))
    return "".join(
        f"diff --git a/app/part{number:02}.py b/app/part{number:02}.py\nnew file mode 100644\n--- /dev/null\n"
        f"+++ b/app/part{number:02}.py\n@@ -0,0 +1,40 @@\n{lines}"
        for number in range(1, FILES + 1)
    ).encode()


def items(word: str) -> list[tuple[Item, bytes]]:
    """The evidence of one round."""
    every = tuple(range(1, CRITERIA + 1))
    usual = deliveries.usual_items(word, diff(word))
    return [
        (Item(one.name, one.kind, one.sha256, one.size, one.media_type, every, one.meta), content)
        for one, content in usual
    ]


def delivery_to_judge(pool: Pool, agent: Agent, reviewer: User) -> Delivery:
    """A second round, after the reviewer sent the first one back."""
    task = deliveries.new_task(
        pool, "Settings page: six parts", input=specification(), reviewer=reviewer.get_username()
    )
    first = deliveries.deliver(task, agent, items=items("first"))
    judged = Judgement(
        first.subject_digest, {1: VerdictGiven(Verdict.NOT_MET, "Not as asked.")}, "Once more."
    )
    done(transitions.request_changes(as_person(reviewer), first.pk, judged))
    task = Task.objects.get(pk=task.pk)
    return deliveries.deliver(task, agent, deliveries.next_fence(task), items("second"))


def look_at_everything(keys: Keyboard) -> None:
    """Every file is marked viewed; the screenshots are seen in both widths and beside the round before."""
    for _ in range(FILES):
        keys.press("v")
    expect(keys.page.locator("[data-viewed-count]")).to_have_text(str(FILES))
    for key in SHOT_KEYS:
        keys.press(key)
        expect(keys.page.locator("#shots .now img, #shots .then img").first).to_be_attached()


def judge(keys: Keyboard) -> None:
    """Every criterion is met."""
    for number in range(1, CRITERIA + 1):
        keys.press("y")
        expect(keys.page.locator(f"[data-post='{number}']")).to_have_attribute("data-v", "met")


def accept(keys: Keyboard) -> None:
    """The sheet, and the one chord that sends it."""
    keys.press("a")
    expect(keys.page.get_by_role("dialog", name="Accept round 2")).to_be_visible()
    keys.press("Control+Enter")
    expect(keys.page.get_by_role("heading", name="accepted round 2")).to_be_visible()
