"""A demo agent that hurries in its first round: it gives a reviewer something to send back.

Round 1 leaves out the last criterion, claims it all the same, and forgets the page's state in the widest screenshot.
After a review it does what was not met and answers every note.
"""

from __future__ import annotations

import sys

from grant import Grant, read_grant
from run import as_asked, run


def last_criterion(grant: Grant) -> set[int]:
    """The last criterion of a change, unless it is the only one or a reviewer has spoken."""
    is_change = any(each["kind"] == "diff" for each in grant.evidence)
    if grant.review or not is_change or len(grant.criteria) < 2:
        return set()
    return {grant.criteria[-1].number}


def without_state(page: str, width: int, widths: list[int]) -> str:
    """The address without its query, where the screenshot is the widest of several."""
    return page.partition("?")[0] if len(widths) > 1 and width == max(widths) else page


if __name__ == "__main__":
    sys.exit(run(last_criterion, as_asked if read_grant().review else without_state))
