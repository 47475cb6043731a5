"""The look-up by a command: the operator of the server writes it, a task only names it.

Promises: exit status 0 is HAPPENED, 3 is DID_NOT_HAPPEN, all else CANNOT_TELL. 1 and 2 are what
a program that fails, or is called wrongly, ends with; they must not re-open an effect.
"""

from __future__ import annotations

import json

import rfc8785
from django.conf import settings

from claims.lookups import programs
from claims.lookups.recipes import CommandLookup
from claims.lookups.sighting import EXCERPT_CHARACTERS, Sighted, Subject, excerpt, line
from claims.vocabulary import Said

OUTPUT_BYTES = 64 * 1024
EXIT_SAYS = {0: Said.HAPPENED, 3: Said.DID_NOT_HAPPEN}


def look_up(recipe: CommandLookup, subject: Subject) -> Sighted:
    """Run the command with the effect in its environment; what it prints is the receipt."""
    how = f"command {recipe.name}"
    argv = settings.FENCEPOST_LOOKUP_COMMANDS.get(recipe.name)
    if argv is None:
        return _cannot_tell(recipe, how, "no command of this name is set in FENCEPOST_LOOKUP_COMMANDS")

    environment = {
        "FENCEPOST_EFFECT_ID": subject.effect_id,
        "FENCEPOST_PAYLOAD_DIGEST": subject.payload_digest,
        "FENCEPOST_SLOT": subject.slot,
        "FENCEPOST_TARGET": subject.target,
    }
    try:
        ended = programs.run(argv, environment, recipe.timeoutSeconds, OUTPUT_BYTES)
    except programs.NotRun as error:
        return _cannot_tell(recipe, how, f"the command was not run: {error}")
    if ended.exit_code is None:
        return _cannot_tell(recipe, how, f"it took longer than {recipe.timeoutSeconds} s and was ended")

    said = EXIT_SAYS.get(ended.exit_code, Said.CANNOT_TELL)
    output = excerpt(ended.output) if ended.output_is_cut else _as_json_or_text(ended.output)
    is_cut = ended.output_is_cut or (isinstance(output, str) and len(output) == EXCERPT_CHARACTERS)
    receipt = {"exitCode": ended.exit_code, "output": output, "outputIsCut": is_cut}
    note = _last_line(ended.errors)
    if said is Said.CANNOT_TELL:
        note = line(f"{_ending(ended.exit_code)}{f': {note}' if note else ''}")
    return Sighted(said, how, receipt, note, recipe.authoritative)


def _as_json_or_text(raw: bytes) -> object:
    """A JSON value that can be stored and digested as it is; of all else the beginning, as text."""
    try:
        value = json.loads(raw)
        stored = rfc8785.dumps(value)
    except (ValueError, RecursionError):
        return excerpt(raw.strip())
    return value if len(stored) <= EXCERPT_CHARACTERS and b"\\u0000" not in stored else excerpt(raw.strip())


def _ending(code: int) -> str:
    return f"it was ended by signal {-code}" if code < 0 else f"it ended with {code}"


def _last_line(errors: bytes) -> str:
    lines = [each for each in excerpt(errors[-2_000:]).splitlines() if each.strip()]
    return line(lines[-1]) if lines else ""


def _cannot_tell(recipe: CommandLookup, how: str, reason: str) -> Sighted:
    return Sighted(Said.CANNOT_TELL, how, {}, line(reason), recipe.authoritative)
