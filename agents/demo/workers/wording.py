"""Reads the sentences that people write: quoted copy, names in back quotes, and notes that ask for other words."""

from __future__ import annotations

import difflib
import re

QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"")
INSTEAD = re.compile(r"“([^”]+)”,? (?:instead of|in place of|rather than|not) “([^”]+)”")
INTO = re.compile(r"(?:instead of|replace|change|for|not) “([^”]+)”\W*(?:\w+ ){0,4}?“([^”]+)”", re.IGNORECASE)
RATIO = re.compile(r"\b\d+(?:\.\d+)?:1\b")
VALUE = re.compile(r"`([^`]+)`|(?<!\w)(\d+px|\d+(?:\.\d+)?:1)(?!\w)")
MEASURE = re.compile(r"(?<!\w)(?:\d+px|\d+(?:\.\d+)?:1)(?!\w)")
WIDTH = re.compile(r"\b(\d{3,4}) ?(?:px|pixels?)\b")
LIKE_ENOUGH = 0.4
NARROWEST, WIDEST = 320, 2560


def quoted(text: str) -> list[str]:
    """The texts in quotation marks, in their order."""
    return [curly or straight for curly, straight in QUOTED.findall(text)]


def test_name(sentence: str) -> str:
    """A sentence as the name of a test.

    Quoted copy, lengths and ratios are left out, so that other ones do not make another test.
    """
    plain = MEASURE.sub("", QUOTED.sub("", sentence))
    plain = re.sub(r"^-(?=\d)", "minus ", plain)
    words = re.findall(r"[A-Za-z0-9]+", plain.lower())
    name = "test"
    for word in words:
        if len(name) + len(word) > 78:
            break
        name += f"_{word}"
    return name


def exchange_in(note: str, texts: list[str]) -> tuple[str, str] | None:
    """The (old, new) wording a note asks for, or None.

    Two quoted texts, lengths or ratios say it themselves ("“B” instead of “A”", "change 3px to 4px"). One quoted
    text replaces the most similar one that the criteria quote, one ratio the only one that they name.
    """
    note = QUOTED.sub(lambda match: f"“{match[1] or match[2]}”", note)
    values = VALUE.sub(lambda match: f"“{match[1] or match[2]}”", note)
    if match := INSTEAD.search(values):
        return match[2], match[1]
    if match := INTO.search(values):
        return match[1], match[2]
    known = [each for text in texts for each in quoted(text)]
    asked = [each for each in quoted(note) if each not in known]
    if len(asked) == 1 and known:
        closest = max(known, key=lambda each: alike(each, asked[0]))
        if len(known) == 1 or alike(closest, asked[0]) >= LIKE_ENOUGH:
            return closest, asked[0]
    ratios = {ratio for text in texts for ratio in RATIO.findall(text)}
    wished = RATIO.findall(note)
    if len(ratios) == 1 and len(wished) == 1 and wished[0] not in ratios:
        return ratios.pop(), wished[0]
    return None


def is_copy(text: str) -> bool:
    """Whether a text is words that stand in files as they are, not a length, a ratio or a colour's name."""
    return re.search(r"[^\W\d]{3}", text) is not None and not text.startswith("--")


def widths_in(note: str) -> list[int]:
    """The page widths that a note names, in CSS pixels."""
    found = (int(each) for each in WIDTH.findall(note))
    return [width for width in dict.fromkeys(found) if NARROWEST <= width <= WIDEST]


def alike(one: str, other: str) -> float:
    """How similar two texts are, from 0 to 1."""
    return difflib.SequenceMatcher(None, one.lower(), other.lower()).ratio()


def shortened(text: str, longest: int) -> str:
    """A text cut at a word, with an ellipsis, to at most that many characters."""
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    return text[: longest - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def listed(items: list[str]) -> str:
    """Items as people list them: a, b and c."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + f" and {items[-1]}"
