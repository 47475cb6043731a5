"""Tasks that need no repository: the answer is in the words of the task, and is delivered as the JSON result."""

from __future__ import annotations

import hashlib
import re
from decimal import Decimal

from skill import Asked, Work, skill
from wording import quoted
from workspace import CannotDo


def numbers_of(work: Work) -> list[Decimal]:
    """The numbers after the colon of the task."""
    found = [Decimal(each) for each in re.findall(r"-?\d+(?:\.\d+)?", work.grant.task.partition(":")[2])]
    if not found:
        raise CannotDo("the task lists no numbers after a colon")
    return found


def plain(number: Decimal) -> int | float:
    """A number as JSON has it."""
    return int(number) if number == number.to_integral_value() else float(number)


def about_numbers(work: Work, asked: list[Asked]) -> None:
    """The sum, the count or the largest of the task's numbers."""
    numbers = numbers_of(work)
    answers = {
        "sum": sum(numbers, Decimal(0)),
        "number": Decimal(len(numbers)),
        "largest": max(numbers),
        "smallest": min(numbers),
    }
    for each in asked:
        work.result[each["key"]] = plain(answers[each["what"]])
        work.claim(each, f"`{each['key']}` is {work.result[each['key']]}, from {len(numbers)} numbers.")


def in_order(work: Work, asked: list[Asked]) -> None:
    """The task's names in alphabetical order."""
    names = [name.strip(" .\n") for name in work.grant.task.partition(":")[2].split(",")]
    for each in asked:
        key = str.casefold if each["alike"] else str
        work.result[each["key"]] = sorted(filter(None, names), key=key)
        work.claim(
            each,
            f"`{each['key']}` has {len(names)} names, from {min(names, key=key)} to {max(names, key=key)}.",
        )


def digest(work: Work, asked: list[Asked]) -> None:
    """The SHA-256 of the sentence that the task quotes."""
    texts = quoted(work.grant.task)
    if not texts:
        raise CannotDo("the task quotes no text")
    for each in asked:
        work.result[each["key"]] = hashlib.sha256(texts[0].encode()).hexdigest()
        work.claim(each, f"`{each['key']}` is the digest of {len(texts[0].encode())} bytes.")


SKILLS = [
    skill(r"`(?P<key>\w+)` is the (?P<what>sum|number|largest|smallest) of the numbers", about_numbers),
    skill(
        r"`(?P<key>\w+)` has the names in alphabetical order(?P<alike>, capital and small letters alike)?",
        in_order,
    ),
    skill(r"`(?P<key>\w+)` is the SHA-256 of the quoted", digest),
]
