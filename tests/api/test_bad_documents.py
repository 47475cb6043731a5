"""Bad bodies, each with its 4xx and nothing changed (scenarios, "Bad inputs" 1 to 33)."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest

from claims.api.documents import Unreadable, read_document
from claims.models import Attempt, Task
from tests.api.conftest import Caller
from tests.support.world import World, a_specification

DEEP = 20_000


def body_of(world: World, **changes: Any) -> dict[str, Any]:
    return {"schedulerEpoch": world.epoch, "max": 1, **changes}


def claim_next(agent: Caller, world: World, raw: bytes, **options: Any) -> Any:
    return agent.call("POST", f"/pools/{world.pool.name}/claim-next", raw=raw, **options)


RAW: dict[str, bytes] = {
    "an empty body": b"",
    "null": b"null",
    "a list": b"[]",
    "a text": b'"x"',
    "a number": b"5",
    "a truncated document": b'{"schedulerEpoch": 1',
    "trailing garbage": b'{"schedulerEpoch": 1} x',
    "two documents": b'{"schedulerEpoch": 1}{"schedulerEpoch": 1}',
    "a byte order mark": b'\xef\xbb\xbf{"schedulerEpoch": 1}',
    "UTF-16": '{"schedulerEpoch": 1}'.encode("utf-16"),
    "UTF-16 without a mark": '{"schedulerEpoch": 1}'.encode("utf-16-le"),
    "UTF-32": '{"schedulerEpoch": 1}'.encode("utf-32"),
    "bytes that are not UTF-8": b'{"schedulerEpoch": "\xc3\x28"}',
    "an overlong sequence": b'{"schedulerEpoch": "\xc0\xaf"}',
    "NaN": b'{"schedulerEpoch": NaN}',
    "Infinity": b'{"schedulerEpoch": Infinity}',
    "-Infinity": b'{"schedulerEpoch": -Infinity}',
    "1e999": b'{"schedulerEpoch": 1e999}',
    "1e400000000": b'{"schedulerEpoch": 1e400000000}',
    "ten thousand digits": b'{"schedulerEpoch": ' + b"9" * 10_000 + b"}",
    "2^53": b'{"schedulerEpoch": 9007199254740992}',
    "2^63": b'{"schedulerEpoch": 9223372036854775808}',
    "-2^63-1": b'{"schedulerEpoch": -9223372036854775809}',
    "-0": b'{"schedulerEpoch": -0}',
    "1.0": b'{"schedulerEpoch": 1.0}',
    "1e0": b'{"schedulerEpoch": 1e0}',
    "true for a number": b'{"schedulerEpoch": true}',
    "a text for a number": b'{"schedulerEpoch": "1"}',
    "null for a number": b'{"schedulerEpoch": null}',
    "a negative number": b'{"schedulerEpoch": -1}',
    "a name twice": b'{"schedulerEpoch": 1, "schedulerEpoch": 1}',
    "an unknown name": b'{"schedulerEpoch": 1, "pool": "x"}',
    "__proto__": b'{"schedulerEpoch": 1, "__proto__": {"max": 9}}',
    "constructor": b'{"schedulerEpoch": 1, "constructor": {}}',
    "a name with NUL": b'{"schedulerEpoch": 1, "a\\u0000b": 1}',
    "a name with a bidi mark": '{"schedulerEpoch": 1, "a\u202eb": 1}'.encode(),
    "a name with nothing to see": '{"schedulerEpoch": 1, "a\u200bb": 1}'.encode(),
    "depth 65": b'{"schedulerEpoch": ' + b"[" * 64 + b"]" * 64 + b"}",
    "depth 1,000": b'{"schedulerEpoch": ' + b"[" * 1_000 + b"]" * 1_000 + b"}",
    "depth 20,000": b"[" * DEEP,
    "depth hidden after a text with brackets": b'{"x": "\\"]]]]", "y": ' + b"[" * 80 + b"]" * 80 + b"}",
    "a hundred thousand names": b"{" + b",".join(b'"k%d":1' % n for n in range(100_000)) + b"}",
    "a list of a million": b"[" + b"1," * 900_000 + b"1]",
    "a NUL": b'{"schedulerEpoch": 1, "max": "\\u0000"}',
    "half a surrogate pair": b'{"schedulerEpoch": 1, "max": "\\ud800"}',
    "the other half of a surrogate pair": b'{"schedulerEpoch": 1, "max": "\\uDC00"}',
    "half a surrogate pair in a name": b'{"schedulerEpoch": 1, "\\udfff": 1}',
    "quotes in a text that does not end": b'{"x": ' + b"[" * 80 + b'"' + b'\\"' * 100_000,
    "comments": b'{"schedulerEpoch": 1 /* epoch */}',
    "a trailing comma": b'{"schedulerEpoch": 1,}',
    "single quotes": b"{'schedulerEpoch': 1}",
    "a raw control character": b'{"schedulerEpoch": "a\nb"}',
}


@pytest.mark.parametrize("what", RAW)
def test_a_document_with_two_meanings_is_refused(what: str, world: World, agent: Caller) -> None:
    world.task()
    answer = claim_next(agent, world, RAW[what])
    assert answer.status in (400, 413), (answer.status, answer.body)
    assert answer.code in ("MALFORMED", "TOO_LARGE")
    assert not Attempt.objects.filter(task__pool=world.pool).exists()


@pytest.mark.parametrize("what", RAW)
def test_a_hostile_document_costs_next_to_nothing(what: str) -> None:
    started = time.process_time()
    with contextlib.suppress(Unreadable):
        read_document(RAW[what])
    assert time.process_time() - started < 1


def test_a_body_beyond_the_limit_is_413(world: World, agent: Caller) -> None:
    answer = claim_next(agent, world, b'{"schedulerEpoch": "' + b"x" * 3_000_000 + b'"}')
    assert (answer.status, answer.code) == (413, "TOO_LARGE")


@pytest.mark.parametrize(
    ("content_type", "headers"),
    [
        ("", {}),
        ("text/plain", {}),
        ("application/json; charset=utf-16", {}),
        ("application/x-www-form-urlencoded", {}),
        ("multipart/form-data; boundary=x", {}),
        ("application/json", {"Content-Encoding": "gzip"}),
        ("application/json", {"Content-Encoding": "zstd"}),
        ("application/json", {"Content-Encoding": "br"}),
    ],
)
def test_another_media_type_or_encoding_is_415(
    content_type: str, headers: dict[str, str], world: World, agent: Caller
) -> None:
    raw = json.dumps(body_of(world)).encode()
    answer = claim_next(agent, world, raw, content_type=content_type, headers=headers)
    assert (answer.status, answer.code) == (415, "UNSUPPORTED_MEDIA")


@pytest.mark.parametrize(
    "content_type",
    ["application/json; charset=utf-8", "Application/JSON", 'application/json; charset="UTF-8"'],
)
def test_plain_json_may_name_its_charset(content_type: str, world: World, agent: Caller) -> None:
    answer = claim_next(agent, world, json.dumps(body_of(world)).encode(), content_type=content_type)
    assert answer.status == 200, answer.body


def test_depth_64_is_read(world: World, preparer: Caller) -> None:
    deep: Any = 1
    for _ in range(62):
        deep = [deep]
    answer = preparer.post("/tasks", {"pool": world.pool.name, "title": "x", "input": {"task": deep}})
    assert (answer.status, answer.code) == (400, "MALFORMED")
    assert "levels" not in answer.body["detail"]


def test_noncharacters_make_the_round_trip(world: World, preparer: Caller) -> None:
    written = "a \ufffe b \uffff c é é"
    made = preparer.post(
        "/tasks", {"pool": world.pool.name, "title": written, "input": a_specification(task=written)}
    )
    assert made.status == 201, made.body
    seen = preparer.get(f"/tasks/{made.body['tasks'][0]['taskId']}").body
    assert (seen["title"], seen["input"]["task"]) == (written, written)


def test_a_nul_is_refused_with_its_pointer(world: World, preparer: Caller) -> None:
    answer = preparer.post(
        "/tasks", {"pool": world.pool.name, "title": "x", "input": a_specification(task="a\x00b")}
    )
    assert (answer.status, answer.body["reasons"]) == (400, ["/input/task"])


MOMENTS = [
    "2026-02-30T10:00:00Z",
    "0000-01-01T00:00:00Z",
    "10000-01-01T00:00:00Z",
    "2026-01-01T23:59:60Z",
    "2026-01-01T10:00:00",
    "2026-01-01",
    "2026-01-01T24:00:00Z",
    "2026-01-01 10:00:00Z",
    "2026-01-01T10:00:00+25:00",
    1_767_225_600,
    "tomorrow",
    "",
]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_time_that_is_none_is_refused(moment: object, world: World, preparer: Caller) -> None:
    answer = preparer.post(
        "/tasks", {"pool": world.pool.name, "title": "x", "input": a_specification(), "notBefore": moment}
    )
    assert (answer.status, answer.code) == (400, "MALFORMED")
    assert answer.body["reasons"][0].startswith("/notBefore")


def test_a_time_with_an_offset_is_kept_in_utc(world: World, preparer: Caller) -> None:
    body = {
        "pool": world.pool.name,
        "title": "x",
        "input": a_specification(),
        "notBefore": "2026-01-01T10:00:00+14:00",
    }
    made = preparer.post("/tasks", body)
    assert made.status == 201, made.body
    assert (
        preparer.get(f"/tasks/{made.body['tasks'][0]['taskId']}").body["notBefore"] == "2025-12-31T20:00:00Z"
    )


BAD_FIELDS: list[tuple[str, Any]] = [
    ("pool", None), ("pool", 5), ("pool", ""), ("title", None), ("title", ""), ("title", 5), ("title", "x" * 301), ("title", "a\nb"),
    ("title", "x" * 1_000_000), ("input", None), ("input", []), ("input", {}), ("input", "x"), ("input", {"task": ""}), ("input", {"task": 5}),
    ("input", {"task": "x", "unknown": 1}), ("input", {"task": "x", "acceptance": [{"text": ""}]}),
    ("input", {"task": "x", "evidence": [{"kind": "video"}]}), ("input", {"task": "x", "access": ["Ünïcode"]}),
    ("input", {"task": "x", "access": ["a/b"]}), ("input", {"task": "x", "effects": [{"slot": "mail"}]}),
    ("priority", -1), ("priority", 10), ("priority", 1.5), ("priority", True), ("priority", "1"), ("priority", 2**31),
    ("maxAttempts", 0), ("maxAttempts", 2**31), ("maxAttempts", "3"), ("ttlSeconds", 0), ("ttlSeconds", -1), ("ttlSeconds", 10**9),
    ("ttlSeconds", "5m"), ("reviewPolicy", "none"), ("reviewPolicy", 1), ("reclaimPolicy", "auto"), ("nodeId", "A B"), ("nodeId", "é"),
    ("reviewer", 5), ("reviewer", ""), ("dependsOn", "a"), ("state", "DONE"), ("owner", "x"), ("claimGeneration", 7), ("createdBy", "x"),
    ("schedulerEpoch", 1), ("id", "x"), ("is_staff", True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"), BAD_FIELDS, ids=[f"{name}={str(value)[:30]!r}" for name, value in BAD_FIELDS]
)
def test_a_bad_field_of_a_new_task_is_refused(name: str, value: Any, world: World, preparer: Caller) -> None:
    body = {"pool": world.pool.name, "title": "x", "input": a_specification(), name: value}
    answer = preparer.post("/tasks", body)
    assert answer.status == 400, (answer.status, answer.body)
    assert answer.code == "MALFORMED"
    assert not Task.objects.filter(pool=world.pool).exists()


@pytest.mark.parametrize("name", ["pool", "title", "input"])
def test_a_missing_field_of_a_new_task_is_named(name: str, world: World, preparer: Caller) -> None:
    body = {"pool": world.pool.name, "title": "x", "input": a_specification()}
    del body[name]
    answer = preparer.post("/tasks", body)
    assert answer.status == 400, answer.body
    assert f"/{name}: Field required" in answer.body["reasons"]


SENSELESS: list[tuple[str, dict[str, Any]]] = [
    ("an unknown reviewer", {"reviewer": "nobody-of-that-name"}),
    ("an unknown group", {"reviewerGroup": "no-such-group"}),
    ("a lease longer than the pool allows", {"ttlSeconds": 86_400}),
    ("a dependency nobody keeps", {"dependsOn": ["a"]}),
]


@pytest.mark.parametrize(("what", "changes"), SENSELESS, ids=[what for what, _ in SENSELESS])
def test_what_is_well_formed_and_makes_no_sense_is_422(
    what: str, changes: dict[str, Any], world: World, preparer: Caller
) -> None:
    answer = preparer.post(
        "/tasks", {"pool": world.pool.name, "title": "x", "input": a_specification(), **changes}
    )
    assert (answer.status, answer.code) == (422, "UNPROCESSABLE")
