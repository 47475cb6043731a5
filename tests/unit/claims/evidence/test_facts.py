"""What the server establishes about evidence."""

import hashlib
import io
import json
import struct
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from claims import evidence
from claims.canonical import Item
from claims.evidence import facts as module
from claims.inputs import parse_input

DIFF = b"diff --git a/%b b/%b\n--- a/%b\n+++ b/%b\n@@ -1 +1,2 @@\n a\n+b\n"
JUNIT = b"""<testsuites><testsuite name="s" tests="900"><testcase name="a"/><testcase name="b"><failure>no</failure></testcase>
<testcase name="c"><skipped/></testcase></testsuite></testsuites>"""


@pytest.fixture(autouse=True)
def _own_storage(settings, tmp_path):
    settings.STORAGES = {
        **settings.STORAGES,
        "evidence": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path)},
        },
    }


def item(content: bytes, kind: str, name: str = "it", **meta: object) -> Item:
    sha256 = hashlib.sha256(content).hexdigest()
    evidence.keep([content], sha256, max(1, len(content)))
    return Item(name, kind, sha256, len(content), "application/octet-stream", (1,), meta)


def specification(**changes: object):
    body = {
        "task": "Do it",
        "scope": {"files": ["app/**"], "excluded": ["data/**"]},
        "acceptance": [{"text": "x"}],
    }
    return parse_input({**body, **changes})


def codes(facts: dict) -> set[str]:
    return {flag["code"] for flag in facts["flags"]}


def diff_of(*paths: bytes) -> bytes:
    return b"".join(DIFF.replace(b"%b", path) for path in paths)


def test_files_are_listed_with_their_standing_excluded_first():
    facts = evidence.establish(
        specification(), [item(diff_of(b"app/x.py", b"README.md", b"data/c.json"), "diff")]
    )
    assert [(each["path"], each["standing"]) for each in facts["files"]] == [
        ("data/c.json", "excluded"),
        ("README.md", "outside"),
        ("app/x.py", "inside"),
    ]
    assert facts["diff"] == {"added": 3, "removed": 0, "files": 3, "binary": 0}
    assert facts["scope"] == {"outside": ["README.md"], "excluded": ["data/c.json"]}
    assert codes(facts) == {"excluded", "outside"}


def test_a_diff_of_many_files_is_bounded_and_keeps_what_is_excluded():
    paths = [b"app/%d.py" % number for number in range(module.MOST_FILES + 50)]
    facts = evidence.establish(specification(), [item(diff_of(*paths, b"data/last.json"), "diff")])
    assert len(facts["files"]) == module.MOST_FILES
    assert facts["files"][0]["standing"] == "excluded"
    assert facts["diff"]["files"] == module.MOST_FILES + 51
    assert "truncated" in codes(facts)


def test_an_exit_code_is_a_fact_only_where_this_servers_worker_ran_it():
    ran = item(
        b"3 passed\n", "command", "tests", ranBy="worker", exitCode=2, durationMs=40, command="make test"
    )
    by_worker = evidence.establish(specification(), [ran], ran_here=True)
    assert by_worker["commands"][0] | {"size": 0} == {
        "name": "tests", "command": "make test", "ranBy": "worker", "exitCode": 2, "durationMs": 40, "size": 0, "lines": 1, "isCut": False,
    }  # fmt: skip
    assert "failed-command" in codes(by_worker)
    claimed = evidence.establish(specification(), [ran])["commands"][0]
    assert (claimed["ranBy"], claimed["exitCode"], claimed["durationMs"]) == ("agent", None, None)


def test_counts_of_tests_are_summed_from_the_cases_and_only_where_a_worker_made_the_report():
    report = item(JUNIT, "test-report", ranBy="worker")
    tests = evidence.establish(specification(), [report], ran_here=True)["tests"]
    assert (tests["executed"], tests["passed"], tests["failed"], tests["skipped"]) == (2, 1, 1, 1)
    assert tests["failedNames"] == ["b"]
    assert "tests" not in evidence.establish(specification(), [report])


def test_a_report_without_any_test_is_flagged():
    facts = evidence.establish(
        specification(), [item(b"<testsuite/>", "test-report", ranBy="worker")], ran_here=True
    )
    assert facts["tests"]["executed"] == 0
    assert "no-tests" in codes(facts)


def test_entities_in_a_report_are_never_expanded():
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>'
    facts = evidence.establish(specification(), [item(bomb, "test-report", ranBy="worker")], ran_here=True)
    assert "tests" not in facts
    assert codes(facts) == {"unreadable"}


def png(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height)).save(out, "PNG")
    return out.getvalue()


def test_a_screenshot_has_its_real_width_beside_the_asked_one():
    asked = specification(evidence=[{"kind": "screenshot", "name": "page", "widths": [390, 1280]}])
    shots = [
        item(png(390, 20), "screenshot", "page-390"),
        item(png(800, 20), "screenshot", "page-1280", width=1280),
    ]
    facts = evidence.establish(asked, shots)
    assert [(shot["width"], shot["declaredWidth"], shot["matches"]) for shot in facts["screenshots"]] == [
        (390, 390, True),
        (800, 1280, False),
    ]
    assert codes(facts) == {"width"}


def test_a_picture_of_many_pixels_is_measured_and_not_decoded():
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    huge = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    huge += struct.pack(">I", 4) + b"IDAT" + b"\0\0\0\0" + struct.pack(">I", zlib.crc32(b"IDAT\0\0\0\0"))
    facts = evidence.establish(specification(), [item(huge, "screenshot")])
    assert facts["screenshots"][0]["width"] == 50_000
    assert "too-large" in codes(facts)


def test_bytes_that_are_not_kept_are_flagged():
    facts = evidence.establish(specification(), [Item("gone", "diff", "0" * 64, 5, "text/x-diff", (), {})])
    assert "absent" in codes(facts)


def test_more_than_the_server_reads_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr(module, "READ_BYTES", 100)
    facts = evidence.establish(
        specification(), [item(diff_of(*[b"app/%d.py" % n for n in range(9)]), "diff")]
    )
    assert "truncated" in codes(facts)


def test_a_file_that_could_not_be_judged_counts_as_excluded(monkeypatch):
    monkeypatch.setattr(module, "MOST_COMPARISONS", 2)
    facts = evidence.establish(specification(), [item(diff_of(b"app/x.py", b"app/y.py"), "diff")])
    assert [each["standing"] for each in facts["files"]] == ["excluded", "inside"]
    assert "truncated" in codes(facts)


META = st.dictionaries(
    st.sampled_from(["ranBy", "exitCode", "durationMs", "command", "page", "width", "isCut"]),
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(max_size=20),
        st.floats(),
        st.lists(st.integers(), max_size=2),
        st.just("worker"),
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(
    content=st.one_of(
        st.binary(max_size=300),
        st.sampled_from([JUNIT, JUNIT[:80], png(5, 5), png(5, 5)[:40], b"GIF89a", b"\xff\xd8\xff\xe0"]),
    ),
    kind=st.sampled_from(["diff", "command", "test-report", "screenshot", "file", "link", "unknown"]),
    meta=META,
)
def test_any_bytes_and_any_meta_give_facts_that_are_json(content, kind, meta):
    facts = evidence.establish(specification(), [item(content, kind, **meta)], ran_here=True)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert "\\u0000" not in json.dumps(facts)


def test_each_file_says_where_it_stands_in_its_diff():
    first, second = diff_of(b"app/x.py", b"data/c.json"), diff_of(b"app/y.py")
    facts = evidence.establish(specification(), [item(first, "diff", "a"), item(second, "diff", "b")])
    contents = (first, second)
    for each in facts["files"]:
        source, start, size = each["at"]
        piece = contents[source][start : start + size]
        assert piece == diff_of(each["path"].encode())


def test_a_file_that_hides_characters_is_named():
    diff = diff_of(b"app/x.py") + diff_of(b"app/y.py").replace(b"+b", "+b\u202e\u2066".encode())
    facts = evidence.establish(specification(), [item(diff, "diff")])
    (flag,) = [flag for flag in facts["flags"] if flag["code"] == "hidden-characters"]
    assert flag["text"] == "1 file with characters that turn or hide text: app/y.py"


def test_what_speaks_against_the_agents_own_evidence_is_flagged_without_becoming_a_fact():
    facts = evidence.establish(
        specification(),
        [
            item(b"no\n", "command", "tests", exitCode=3),
            item(JUNIT, "test-report", "report"),
            item(b"<testsuite/>", "test-report", "empty"),
        ],
    )
    assert [flag["text"] for flag in facts["flags"]] == [
        "tests ended with 3, by the agent's account.",
        "1 of 2 tests failed, by the agent's own report report.",
        "No test was executed, by the agent's own report empty.",
    ]
    assert "tests" not in facts


def test_a_picture_whose_pixels_end_half_way_is_flagged_as_damaged():
    whole = png(390, 600)
    facts = evidence.establish(specification(), [item(whole[: len(whole) // 2], "screenshot", width=390)])
    assert facts["screenshots"][0]["isDamaged"] is True
    assert codes(facts) == {"damaged"}
    assert (
        "isDamaged" not in evidence.establish(specification(), [item(whole, "screenshot")])["screenshots"][0]
    )
