"""The reference names every call, every code and every limit that the code has."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

from claims.api import documents, files
from claims.outcomes import RULES
from claims.tokens import PREFIX_LENGTH, SECRET_LENGTH
from tests.api.conftest import Caller

REFERENCE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "api.md").read_text(
    encoding="utf-8"
)


def test_the_reference_names_every_call_and_no_other(nobody: Caller, db: None) -> None:
    paths = nobody.get("/openapi.json").body["paths"]
    served = {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in paths.items()
        for method in methods
    }
    assert set(re.findall(r"^\| `((?:GET|POST|PUT) /\S+)` \|", REFERENCE, re.MULTILINE)) == served


def test_the_reference_gives_every_code_its_status() -> None:
    listed = {
        code: int(status)
        for status, codes in re.findall(r"^\| (\d{3}) \| ([A-Z_, ]+) \|$", REFERENCE, re.MULTILINE)
        for code in codes.split(", ")
    }
    assert listed == {why.value: rule.status for why, rule in RULES.items()} | {
        "METHOD_NOT_ALLOWED": 405,
        "FAULT": 500,
    }


def test_the_reference_gives_the_limits_of_the_code() -> None:
    assert f"{settings.FENCEPOST_API_CALLS_IN_TEN_SECONDS:,} times in ten seconds" in REFERENCE
    assert f"at most {documents.MAX_BYTES // 2**20} MiB, {documents.MAX_DEPTH} levels deep" in REFERENCE
    assert f"at most {files.MAX_FILE_BYTES // 2**20} MiB" in REFERENCE
    assert f"fp_[a-z0-9]{{{PREFIX_LENGTH}}}_[A-Za-z0-9]{{{SECRET_LENGTH}}}" in REFERENCE
