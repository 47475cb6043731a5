"""What a delivery shows: flags, tests, screenshots, diff, commands and files, each bounded and said by whom.

Promises: a number stands as a fact only where the server established it (``Delivery.facts``); all
else is drawn as the agent's word. Evidence that cannot be read is a sentence, not an error.
"""

from reviews.desk.evidence.diffing import Diff, DiffFile, diff_of, diffs_of, entries_of
from reviews.desk.evidence.diffing import drawn as drawn_file
from reviews.desk.evidence.flags import Flag, flags_of
from reviews.desk.evidence.kinds import of_kind
from reviews.desk.evidence.lens import Lens, lens_of
from reviews.desk.evidence.outputs import Command, commands_of
from reviews.desk.evidence.shots import Page, Shot, pages_of
from reviews.desk.evidence.shots import beyond as shots_beyond
from reviews.desk.evidence.testing import Tests, tests_of

__all__ = [
    "Command", "Diff", "DiffFile", "Flag", "Lens", "Page", "Shot", "Tests",
    "commands_of", "diff_of", "diffs_of", "drawn_file", "entries_of", "flags_of", "lens_of", "of_kind", "pages_of", "shots_beyond", "tests_of",
]  # fmt: skip
