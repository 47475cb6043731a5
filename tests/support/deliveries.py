"""Deliveries of real bytes for tests of pages: a diff, coloured output, a test report, screenshots."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from typing import Any

from PIL import Image, ImageDraw

from claims import evidence, transitions
from claims.callers import SYSTEM, Actor, Caller
from claims.canonical import Item
from claims.fences import Fence
from claims.inputs import NewTask
from claims.models import Agent, Delivery, Pool, Task
from claims.outcomes import Created, Delivered, Granted
from claims.transitions import Account, StagedResult
from claims.vocabulary import ActorKind, Source

CRITERIA = (
    (
        "With no invoices, the page shows “No invoices yet”, one sentence and one action.",
        "the screenshots and the added test",
    ),
    ("With one invoice or more, the table looks as before.", "the tests"),
    ("At 390 px nothing scrolls sideways.", "the screenshot billing-empty-390"),
    ("The page makes at most 3 queries.", "command queries"),
)

DIFF = (
    """diff --git a/templates/billing.html b/templates/billing.html
index 1111111..2222222 100644
--- a/templates/billing.html
+++ b/templates/billing.html
@@ -1,6 +1,9 @@
 <main>
   <h1>Billing</h1>
-  <table class="invoices">
+  {% if invoices %}
+  <table class="invoices wide">
+  {% else %}
+  <p>No invoices yet.</p>
     <tr><th>Date</th></tr>
   </table>
 </main>
diff --git a/app/views.py b/app/views.py
index 3333333..4444444 100644
--- a/app/views.py
+++ b/app/views.py
@@ -10,4 +10,5 @@ def billing(request):
 def billing(request):
     customer = find(request)
-    return page("billing.html", invoices=customer.invoices)
+    invoices = customer.invoices or []
+    return page("billing.html", invoices=invoices)
@
diff --git a/data/plans.json b/data/plans.json
index 5555555..6666666 100644
--- a/data/plans.json
+++ b/data/plans.json
@@ -1,2 +1,2 @@
-{"plan": "basic"}
+{"plan": "basic\u202e"}
 []
""".replace("\\u202e", "\u202e")
    .replace("\n@\n", "\n \n")
    .encode()
)
"""A diff with an excluded file that hides a bidirectional mark; ``@`` stands for an empty context line."""

IN_SCOPE = DIFF[: DIFF.index(b"diff --git a/data/")]
"""The same without the file that the task excludes."""

OUTPUT = (
    b"\x1b[1m$ python3 tests/run.py\x1b[0m\r\n"
    b"\x1b]0;a window title\x07\x1b[32m....\x1b[0m [100%]\r\n"
    b"\x1b[33mSKIPPED\x1b[0m [1] tests/test_pdf.py: no wkhtmltopdf\r\n"
    b"\x1b[32m3 passed\x1b[0m, \x1b[33m1 skipped\x1b[0m in 0.41s\r\n"
)

REPORT = b"""<?xml version="1.0"?>
<testsuites><testsuite name="billing" tests="4" skipped="1">
<testcase classname="tests.test_pages" name="test_an_empty_account_says_so" time="0.041"/>
<testcase classname="tests.test_pages" name="test_the_table_is_as_before" time="0.038"/>
<testcase classname="tests.test_money" name="test_cents_are_kept" time="0.002"/>
<testcase classname="tests.test_pdf" name="test_a_pdf_is_made" time="0.0"><skipped message="no wkhtmltopdf"/></testcase>
</testsuite></testsuites>
"""


def picture(width: int, height: int = 600, label: str = "No invoices yet") -> bytes:
    """A PNG that could be a page."""
    image = Image.new("RGB", (width, height), "#ffffff")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, width, 56), fill="#0f2a43")
    draw.rectangle((20, 172, width - 20, 424), fill="#f5f8fa", outline="#dfe5ea")
    draw.text((width // 2 - 40, 290), label, fill="#0f2a43")
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def item(
    name: str, kind: str, content: bytes, criteria: tuple[int, ...] = (), **meta: Any
) -> tuple[Item, bytes]:
    """One piece of evidence with its bytes."""
    sha256 = hashlib.sha256(content).hexdigest()
    return Item(name, kind, sha256, len(content), "application/octet-stream", criteria, meta), content


def usual_items(label: str = "No invoices yet", diff: bytes = DIFF) -> list[tuple[Item, bytes]]:
    """A diff, the tests' command and report by the worker, one command by the agent, two screenshots."""
    by_worker = {
        "ranBy": "worker",
        "exitCode": 0,
        "durationMs": 812,
        "startedAt": "2026-11-30T10:32:11Z",
        "cwd": ".",
    }
    return [
        item("diff", "diff", diff, (1, 2), head="9f3c2e7b40d1a6c85e2f97d3b08c41f6aa1d5e92"),
        item("tests", "command", OUTPUT, (1, 2), command="python3 tests/run.py", **by_worker),
        item("report", "test-report", REPORT, (1, 2), ranBy="worker"),
        item(
            "queries",
            "command",
            b"GET /billing 200 3 queries\n",
            (4,),
            command="python3 count.py /billing",
            exitCode=0,
        ),
        item(
            "billing-empty-390",
            "screenshot",
            picture(390, label=label),
            (1, 3),
            page="/billing?customer=new",
            width=390,
        ),
        item(
            "billing-empty-1280",
            "screenshot",
            picture(1280, 690, label),
            (1,),
            page="/billing?customer=new",
            width=1280,
        ),
    ]


def specification(**changes: Any) -> dict[str, Any]:
    """An input with four criteria."""
    return {
        "task": "Say what is there instead of an empty table.",
        "scope": {"files": ["templates/**", "app/**"], "excluded": ["data/**"]},
        "acceptance": [{"text": text, "proof": proof} for text, proof in CRITERIA],
        "evidence": [{"kind": "diff"}],
        **changes,
    }


def new_task(
    pool: Pool, title: str = "Billing page: empty state when there are no invoices", **attributes: Any
) -> Task:
    """A new OPEN task."""
    attributes.setdefault("input", specification())
    made = transitions.create(Caller(SYSTEM, Source.COMMAND), pool.name, [NewTask(title, **attributes)])
    assert isinstance(made, Created), made
    return Task.objects.get(pk=made.tasks[0].task_id)


def worker(agent: Agent) -> Caller:
    """A worker of this server on behalf of the agent."""
    return Caller(Actor(ActorKind.AGENT, agent.pk, agent.name), Source.WORKER)


def granted(task: Task, agent: Agent, ttl_seconds: int = 600) -> Fence:
    """A claim of the task."""
    task.refresh_from_db()
    outcome = transitions.claim(
        worker(agent), task.pk, task.state_version, task.pool.scheduler_epoch, ttl_seconds
    )
    assert isinstance(outcome, Granted), outcome
    return outcome.fence


def next_fence(task: Task) -> Fence:
    """The fence of the attempt that holds the task now, as after a request for changes."""
    task.refresh_from_db()
    attempt = task.attempt
    assert attempt is not None
    return Fence(
        task.pk, attempt.pk, attempt.scheduler_epoch, attempt.claim_generation, attempt.cancel_generation
    )


def deliver(
    task: Task,
    agent: Agent,
    fence: Fence | None = None,
    items: Sequence[tuple[Item, bytes]] | None = None,
    needs: str = "Check the empty state at 390 px and the query count.",
) -> Delivery:
    """A delivery of these items, the usual ones when none are named."""
    fence = fence or granted(task, agent)
    pairs = usual_items() if items is None else list(items)
    for one, content in pairs:
        evidence.keep([content], one.sha256, len(content))
        transitions.add_file(worker(agent), fence, one.sha256, one.size, one.media_type)
    account = Account(
        "The header row is inside the branch now.",
        needs,
        {"1": "Table header is gone.", "4": "3 queries, asserted."},
    )
    staged = StagedResult({"branch": "work"}, [one for one, _ in pairs])
    outcome = transitions.deliver(worker(agent), fence, str(task.input_digest), None, account, staged)
    assert isinstance(outcome, Delivered), outcome
    return Delivery.objects.get(pk=outcome.delivery_id)
