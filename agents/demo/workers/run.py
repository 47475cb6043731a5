"""One run of a demo agent: read the task, change the files, prove it, hand it in.

Promises: every change is computed from the criteria and the files found. A criterion nobody here can read is named in
the delivery; when none can be read the run ends with 65 (cannot be done). A careless agent differs in two choices only:
which criteria it skips, and which page it photographs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import skills_markup
import skills_names
import skills_plain
import skills_python
import skills_styles
from devtools import BrowserFailed
from evidence import Evidence, chromium_of_environment, tests_pass
from grant import Answer, Grant, amended, read_grant
from skill import Asked, Skill, Work
from wording import is_copy, listed, shortened
from workspace import CannotDo, Workspace

CANNOT_BE_DONE = 65
TRY_AGAIN = 1
SKILLS = [
    *skills_markup.SKILLS,
    *skills_styles.SKILLS,
    *skills_python.SKILLS,
    *skills_names.SKILLS,
    *skills_plain.SKILLS,
]

PageAt = Callable[[str, int, list[int]], str]


def as_asked(page: str, width: int, widths: list[int]) -> str:
    """Photographs the page that the task names."""
    return page


def understood(grant: Grant) -> tuple[list[tuple[Skill, list[Asked]]], list[int]]:
    """The skills that the criteria need, in the order of the criteria, and the criteria that no skill reads."""
    plan: dict[int, tuple[Skill, list[Asked]]] = {}
    unread = []
    for criterion in grant.criteria:
        for place, each in enumerate(SKILLS):
            if match := each.pattern.search(criterion.text):
                plan.setdefault(place, (each, []))[1].append(Asked(criterion, match))
                break
        else:
            unread.append(criterion.number)
    return list(plan.values()), unread


def do_work(grant: Grant, workspace: Workspace, answers: list[Answer]) -> Work:
    """Exchanges the wording that notes asked for, then lets each skill do its criteria."""
    work = Work(grant, workspace)
    for answer in answers:
        if answer.exchange and is_copy(answer.exchange[0]):
            workspace.exchange(*answer.exchange, ".html", ".py", ".js")
    plan, unread = understood(grant)
    for skill, asked in plan:
        try:
            skill.do(work, asked)
        except CannotDo as missing:
            for each in asked:
                if each.criterion.number not in work.claims:
                    work.failures[each.criterion.number] = str(missing)
    for number in unread:
        work.failures[number] = "I could not read this criterion"
    return work


def summary_of(work: Work, answers: list[Answer], round_number: int) -> str:
    """What was done; in a later round each of the reviewer's notes is quoted and answered."""
    count = len(work.grant.criteria) - len(work.failures)
    lines = [
        f"{work.grant.title or shortened(work.grant.task, 80)}: {count} {'criterion' if count == 1 else 'criteria'} done."
    ]
    if answers:
        lines = [f"Round {round_number} answers {len(answers)} {'note' if len(answers) == 1 else 'notes'}."]
    lines += [f"“{answer.note.text}” → {answer_line(work, answer)}" for answer in answers]
    lines += [
        f"Criterion {number} is not done: {reason}." for number, reason in sorted(work.failures.items())
    ]
    return "\n".join(lines)


def answer_line(work: Work, answer: Answer) -> str:
    """What a note led to."""
    if answer.exchange:
        return f"“{answer.exchange[1]}” now stands where “{answer.exchange[0]}” stood."
    if answer.shots:
        return f"see {listed(list(answer.shots))}."
    number = answer.note.criterion
    if number in work.claims:
        again = "" if work.workspace.is_changed() else "I found nothing more to change. "
        return f"{again}Criterion {number}: {work.claims[number]}"
    if number in work.failures:
        return f"Criterion {number} is not done: {work.failures[number]}."
    review = work.grant.review
    redone = sorted(review.not_met & set(work.claims)) if review else []
    if redone and work.workspace.is_changed():
        return f"Done again: {listed([f'criterion {each}' for each in redone])}."
    return "I found nothing in it that I can do; please name the wording or the criterion."


def needs_of(work: Work, answers: list[Answer]) -> str:
    """One sentence: what the reviewer has to look at."""
    if work.failures:
        numbers = listed([str(number) for number in sorted(work.failures)])
        return f"Decide about what I could not do: {'criteria' if len(work.failures) > 1 else 'criterion'} {numbers}."
    if answers:
        return f"See whether this answers “{shortened(answers[0].note.text, 70)}”, then {listed(work.looks[:1] or ['the rest'])}."
    return f"Please check {listed(work.looks[:2] or ['the result against the task'])}."


def run(skip: Callable[[Grant], set[int]] | None = None, page_at: PageAt = as_asked) -> int:
    """Does the task of the environment. Answers the exit code of the command contract.

    `skip` says which criteria this agent leaves out, `page_at` which page it photographs at a width.
    """
    chromium = chromium_of_environment()
    grant, answers = amended(read_grant(), can_photograph=chromium is not None)
    skipped = skip(grant) if skip else set()
    workspace = Workspace(Path.cwd(), grant.files, grant.excluded)
    work = do_work(grant.without(skipped), workspace, answers)
    if not work.claims:
        print(f"nothing of this task can be done: {work.failures}", file=sys.stderr)
        return CANNOT_BE_DONE
    passed, output = tests_pass(workspace.root)
    if not passed:
        print(f"the tests fail after the change, so nothing is handed in:\n{output}", file=sys.stderr)
        return TRY_AGAIN

    evidence = Evidence(Path(os.environ["FENCEPOST_OUT"]), workspace.root, chromium)
    try:
        evidence.screenshots(grant, page_at)
        evidence.proofs(grant)
    except BrowserFailed as failed:
        print(f"the evidence could not be made: {failed}", file=sys.stderr)
        return TRY_AGAIN
    claims = {**work.claims, **dict.fromkeys(skipped, "Done, see the diff.")}
    work.grant = grant
    evidence.deliver(summary_of(work, answers, grant.round), needs_of(work, answers), claims, work.result)
    time.sleep(float(os.environ.get("FENCEPOST_DEMO_PACE") or 0))
    return 0
