"""Looking up by a command, with real programs."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from pathlib import Path

import pytest
from django.conf import LazySettings

from claims.lookups.by_command import OUTPUT_BYTES
from claims.lookups.looking import look_up
from claims.lookups.recipes import CommandLookup
from claims.lookups.sighting import EXCERPT_CHARACTERS, Sighted, Subject
from claims.vocabulary import Said
from tests.unit.claims.lookups.conftest import EFFECT, PAYLOAD

RECIPE = CommandLookup.model_validate(
    {"kind": "command", "name": "check-dns", "authoritative": True, "timeoutSeconds": 5}
)
BRIEF = RECIPE.model_copy(update={"timeoutSeconds": 1})


def seen(settings: LazySettings, subject: Subject, script: str, recipe: CommandLookup = RECIPE) -> Sighted:
    settings.FENCEPOST_LOOKUP_COMMANDS = {"check-dns": ["/bin/sh", "-c", script]}
    return look_up(recipe, subject)


def has_ended(pid: int) -> bool:
    """Whether a process ends: a signal that was sent takes a moment to be seen."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 5)[0])
    finally:
        os.close(watched)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (0, Said.HAPPENED),
        (3, Said.DID_NOT_HAPPEN),
        (1, Said.CANNOT_TELL),
        (2, Said.CANNOT_TELL),
        (4, Said.CANNOT_TELL),
        (126, Said.CANNOT_TELL),
        (127, Said.CANNOT_TELL),
        (255, Said.CANNOT_TELL),
    ],
)
def test_the_exit_status_tells(settings: LazySettings, subject: Subject, code: int, said: Said) -> None:
    sighted = seen(settings, subject, f"exit {code}")

    assert sighted.said is said
    assert sighted.receipt["exitCode"] == code
    assert (sighted.how, sighted.is_authoritative) == ("command check-dns", True)


def test_a_command_ended_by_a_signal_cannot_tell(settings: LazySettings, subject: Subject) -> None:
    sighted = seen(settings, subject, "kill -KILL $$")

    assert (sighted.said, sighted.note) == (Said.CANNOT_TELL, "it was ended by signal 9")


def test_json_that_a_command_prints_is_the_receipt(settings: LazySettings, subject: Subject) -> None:
    sighted = seen(settings, subject, """echo '{"record": "a.example", "ttl": 60}'""")

    assert sighted.receipt == {
        "exitCode": 0,
        "output": {"record": "a.example", "ttl": 60},
        "outputIsCut": False,
    }


@pytest.mark.parametrize(
    "printed", ["two words", '{"a": NaN}', '"\\u0000"', '"\\ud800"', "9007199254740993", "[" * 3_000]
)
def test_anything_that_cannot_be_stored_exactly_is_kept_as_text(
    settings: LazySettings, subject: Subject, printed: str
) -> None:
    settings.FENCEPOST_LOOKUP_COMMANDS = {"check-dns": ["/bin/echo", printed]}

    assert look_up(RECIPE, subject).receipt["output"] == printed


def test_bytes_that_no_column_takes_are_replaced(settings: LazySettings, subject: Subject) -> None:
    sighted = seen(settings, subject, r"printf 'a\000b\377'")

    assert sighted.receipt["output"] == "a\ufffdb\ufffd"


def test_the_effect_is_in_the_environment_and_nothing_of_the_server_is(
    settings: LazySettings, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FENCEPOST_SECRET_KEY", "s" * 50)
    settings.FENCEPOST_LOOKUP_COMMANDS = {"check-dns": ["/usr/bin/env", "-0"]}

    output = look_up(RECIPE, subject).receipt["output"]

    assert isinstance(output, str)
    assert dict(pair.split("=", 1) for pair in output.split("\ufffd") if pair) == {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C.UTF-8",
        "FENCEPOST_EFFECT_ID": EFFECT,
        "FENCEPOST_PAYLOAD_DIGEST": PAYLOAD,
        "FENCEPOST_SLOT": "charge",
        "FENCEPOST_TARGET": "customers/42",
    }


def test_a_target_is_never_read_by_a_shell(settings: LazySettings, tmp_path: Path) -> None:
    target = f"$(touch {tmp_path}/sprung); `touch {tmp_path}/sprung`\n--help"

    sighted = seen(settings, Subject(EFFECT, PAYLOAD, "charge", target), 'printf %s "$FENCEPOST_TARGET"')

    assert sighted.receipt["output"] == target
    assert not (tmp_path / "sprung").exists()


def test_words_of_the_operator_stay_whole(settings: LazySettings, subject: Subject) -> None:
    settings.FENCEPOST_LOOKUP_COMMANDS = {"check-dns": ["/bin/echo", "a  b; exit 3", "$HOME"]}

    assert look_up(RECIPE, subject).receipt["output"] == "a  b; exit 3 $HOME"


def test_a_command_that_nobody_set_up_cannot_tell(settings: LazySettings, subject: Subject) -> None:
    settings.FENCEPOST_LOOKUP_COMMANDS = {"other": ["/bin/true"]}

    sighted = look_up(RECIPE, subject)

    assert sighted.said is Said.CANNOT_TELL
    assert sighted.note == "no command of this name is set in FENCEPOST_LOOKUP_COMMANDS"


def test_a_program_that_is_not_there_cannot_tell(settings: LazySettings, subject: Subject) -> None:
    settings.FENCEPOST_LOOKUP_COMMANDS = {"check-dns": ["/nowhere/check"]}

    sighted = look_up(RECIPE, subject)

    assert sighted.said is Said.CANNOT_TELL
    assert sighted.note == "the command was not run: No such file or directory"


def test_a_command_that_hangs_is_ended_with_its_whole_group(
    settings: LazySettings, subject: Subject, tmp_path: Path
) -> None:
    began = time.monotonic()
    script = f"trap '' TERM; sleep 60 & echo $! $$ > {tmp_path}/pids; wait"
    sighted = seen(settings, subject, script, BRIEF)

    assert sighted.said is Said.CANNOT_TELL
    assert sighted.note == "it took longer than 1 s and was ended"
    assert time.monotonic() - began < 5
    assert all(has_ended(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_a_command_that_closes_its_output_is_still_bounded(settings: LazySettings, subject: Subject) -> None:
    assert seen(settings, subject, "exec >&- 2>&-; sleep 60", BRIEF).said is Said.CANNOT_TELL


def test_what_a_command_leaves_in_the_background_is_ended_with_it(
    settings: LazySettings, subject: Subject
) -> None:
    began = time.monotonic()
    sighted = seen(settings, subject, "sleep 60 & echo $!")

    assert sighted.said is Said.HAPPENED
    assert time.monotonic() - began < 4
    assert isinstance(sighted.receipt["output"], int)
    assert has_ended(sighted.receipt["output"])


def test_one_that_left_the_group_with_the_output_does_not_hold_the_answer_back(
    settings: LazySettings, subject: Subject, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    script = f"setsid sh -c 'echo $$ > {pid}; exec sleep 60' & until [ -s {pid} ]; do :; done; exit 3"
    began = time.monotonic()

    assert seen(settings, subject, script).said is Said.DID_NOT_HAPPEN

    assert time.monotonic() - began < 4
    os.kill(int(pid.read_text()), signal.SIGKILL)


def test_ten_megabytes_are_read_and_dropped_beyond_the_bound(
    settings: LazySettings, subject: Subject
) -> None:
    sighted = seen(settings, subject, "head -c 10000000 /dev/zero | tr '\\0' x; exit 3")

    assert sighted.said is Said.DID_NOT_HAPPEN
    assert sighted.receipt["output"] == "x" * EXCERPT_CHARACTERS
    assert sighted.receipt["outputIsCut"] is True


def test_json_beyond_the_bound_is_not_stored_whole(
    settings: LazySettings, subject: Subject, tmp_path: Path
) -> None:
    (tmp_path / "long").write_text(json.dumps(["x"] * (OUTPUT_BYTES // 8)))

    receipt = seen(settings, subject, f"cat {tmp_path}/long").receipt

    assert isinstance(receipt["output"], str)
    assert len(receipt["output"]) == EXCERPT_CHARACTERS
    assert receipt["outputIsCut"] is True


def test_output_without_end_is_ended_at_the_time_limit(settings: LazySettings, subject: Subject) -> None:
    assert seen(settings, subject, "exec cat /dev/zero", BRIEF).said is Said.CANNOT_TELL


def test_the_last_line_of_its_errors_is_the_note(settings: LazySettings, subject: Subject) -> None:
    sighted = seen(settings, subject, "echo first >&2; printf 'no route\\033[0m\\n\\n' >&2; exit 1")

    assert sighted.note == "it ended with 1: no route\ufffd[0m"
