"""Task templates in YAML."""

from pathlib import Path

import pytest

from claims.taskfile import TemplateInvalid, load_template
from claims.vocabulary import ReclaimPolicy, ReviewPolicy

DEMO = Path(__file__).parents[3] / "agents" / "demo" / "tasks"


def flaws(text: str) -> list[str]:
    with pytest.raises(TemplateInvalid) as refused:
        load_template(text)
    return [str(flaw) for flaw in refused.value.flaws]


def test_every_template_of_the_demo_is_read():
    read = [load_template(path.read_text(encoding="utf-8")) for path in sorted(DEMO.glob("*.yaml"))]
    assert {template.pool for template in read} == {"billing", "sandbox"}
    assert all(template.task.title for template in read)


def test_a_template_becomes_a_task_with_its_attributes():
    template = load_template(
        "task: Say hello. And more.\npool: sandbox\nreviewPolicy: NONE\nreclaim: AUTO\nttl: 90\npriority: 1\n"
    )
    task = template.task
    assert (template.pool, task.title, task.priority, task.ttl_seconds) == ("sandbox", "Say hello", 1, 90)
    assert (task.review_policy, task.reclaim_policy) == (ReviewPolicy.NONE, ReclaimPolicy.AUTO)
    assert dict(task.input) == {"task": "Say hello. And more."}


def test_an_unknown_key_is_told_with_its_place_and_the_nearest_known_one():
    assert flaws("task: x\nscop:\n  files: [a]\n") == [
        "line 2, column 1: there is no key scop; did you mean scope?"
    ]
    assert flaws("task: x\nacceptance:\n  - text: a\n    prof: b\n") == [
        "line 4, column 5: there is no key prof; did you mean proof?"
    ]


def test_every_flaw_is_told_at_once_with_its_place():
    found = flaws("task: x\npriority: high\nevidence:\n  - kind: diff2\nttl: 0\n")
    assert [line.partition(":")[0] for line in found] == [
        "line 2, column 11",
        "line 4, column 11",
        "line 5, column 6",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("- a", "mapping"),
        ("a: [", "expected"),
        ("task: &a x\npool: *a", "anchors and aliases"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "anchors and aliases"),
        ("task: x\ntask: y", "twice"),
        ("task: x\n---\ntask: y", "one document"),
        ("task: !!python/object/apply:os.system [ls]", "task"),
        ("x: " + "[" * 5_000, "deeper"),
        ("task: " + "x" * 300_000, "bytes"),
        ("task: x\nnotBefore: tomorrow", "zone"),
        ("task: 7", "string"),
    ],
)
def test_what_is_no_template_is_refused_with_a_place(text, says):
    found = flaws(text)
    assert any(says in line for line in found), found
    assert all(line.startswith("line ") for line in found)
