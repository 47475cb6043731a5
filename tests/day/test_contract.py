"""The contract from outside: `scripts/blackbox` against a server of its own, every refusal seen at least once."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import ClassVar

from tests.blackbox.__main__ import CODES
from tests.platform.test_up import ROOT, Up

LIMIT = 500
WALK_SECONDS = 900


class Braked(Up):
    """A server that takes so few calls in ten seconds that its brake can be seen."""

    variables: ClassVar[dict[str, str]] = {"FENCEPOST_API_CALLS_IN_TEN_SECONDS": str(LIMIT)}


def test_every_answer_from_outside_is_the_contracts(tmp_path: Path) -> None:
    up = Braked(tmp_path / "data")
    try:
        walked = subprocess.run(
            [str(ROOT / "scripts" / "blackbox"), "--data", str(up.data), "--ready-file", str(up.ready_file), "--burst", str(4 * LIMIT)],
            capture_output=True,
            text=True,
            timeout=WALK_SECONDS,
            check=False,
        )  # fmt: skip
    finally:
        up.end()
    assert walked.returncode == 0, walked.stdout[-6_000:] + walked.stderr[-2_000:]
    assert f"{len(CODES) + 1} of {len(CODES) + 1} codes seen, 0 answers wrong." in walked.stdout
