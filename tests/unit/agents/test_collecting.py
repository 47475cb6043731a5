"""What a command hands in, read with suspicion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.collecting import CannotCollect, name_of, open_inside, read_delivery
from claims.inputs import NAME


def write(folder: Path, body: object) -> None:
    (folder / "delivery.json").write_text(json.dumps(body), encoding="utf-8")


def test_no_delivery_json_hands_in_nothing_of_its_own(tmp_path: Path) -> None:
    handed_in = read_delivery(tmp_path)
    assert (handed_in.summary, handed_in.result, handed_in.evidence) == ("", {}, ())


def test_what_the_agent_says_is_bounded(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"summary": "s" * 30_000, "needs": "n" * 900, "claims": {"1": "c" * 900, "x": "no"}, "result": [1]},
    )
    handed_in = read_delivery(tmp_path)
    assert (len(handed_in.summary), len(handed_in.needs)) == (20_000, 140)
    assert list(handed_in.claims) == ["1"]
    assert handed_in.result == [1]


@pytest.mark.parametrize("result", [2**53, float("inf"), "a\0b", {"deep": [{"\0": 1}]}])
def test_a_result_without_a_canonical_form_is_refused(tmp_path: Path, result: object) -> None:
    write(tmp_path, {"result": result})
    with pytest.raises(CannotCollect):
        read_delivery(tmp_path)


def test_a_delivery_json_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "delivery.json").symlink_to(tmp_path / "real.json")
    with pytest.raises(CannotCollect):
        read_delivery(tmp_path)


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "", ".", "a/./../..", "x\0y"])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises((CannotCollect, OSError)):
        open_inside(tmp_path, path)


def test_a_folder_that_was_replaced_by_a_link_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path / "elsewhere", {"summary": "not of this attempt"})
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotCollect):
        read_delivery(tmp_path / "out")


def test_a_file_in_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_bytes(b"here")
    with open_inside(tmp_path, "a/b.txt") as stream:
        assert stream.read() == b"here"


@given(st.text(max_size=300))
def test_any_text_becomes_a_name_that_evidence_may_have(text: str) -> None:
    assert NAME.fullmatch(name_of(text))
