"""Lines of code as pieces of text with the classes of the page, bounded in time. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound

from reviews.desk.viewers.texts import cut

Piece = tuple[str, str]
"""A class of the page (empty for none) and a stretch of text."""

COLOUR_LIMIT = 60_000
"""Characters that are coloured at once, some 100 ms of work; more is drawn plain."""
LONGEST_COLOURED = 500
"""Characters of a line of which some are coloured: lexers take long over longer ones."""

_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Token.Comment, "cm"),
    (Token.Keyword, "k"),
    (Token.Operator.Word, "k"),
    (Token.Literal.String, "s"),
    (Token.Name.Function, "nf"),
    (Token.Name.Class, "nf"),
    (Token.Name.Tag, "nf"),
    (Token.Name.Decorator, "nf"),
)


def lexer_for(path: str, texts: Sequence[str]) -> Lexer | None:
    """What reads this file's language; None where none does, or the text is too much for one."""
    if sum(map(len, texts)) > COLOUR_LIMIT or any(len(text) > LONGEST_COLOURED for text in texts):
        return None
    try:
        return _lexer(path.rsplit("/", 1)[-1])
    except ClassNotFound:
        return None


@lru_cache(maxsize=128)
def _lexer(name: str) -> Lexer:
    return get_lexer_for_filename(name, stripnl=False, ensurenl=False)


def pieces_of(texts: Sequence[str], lexer: Lexer | None) -> Iterator[list[Piece]]:
    """The pieces of each line, cut to what a page shows."""
    shown = [cut(text) for text in texts]
    lines = (
        _lexed("\n".join(text for text, _ in shown), lexer) if lexer else [[("", text)] for text, _ in shown]
    )
    for pieces, (text, rest) in zip(lines, shown, strict=False):
        whole = pieces if "".join(part for _, part in pieces) == text else [("", text)]
        yield [*whole, ("ad", f" … {rest:,} more characters")] if rest else whole


def _lexed(text: str, lexer: Lexer) -> list[list[Piece]]:
    lines: list[list[Piece]] = [[]]
    for kind, value in lexer.get_tokens(text):
        name = _class_of(kind)
        for position, part in enumerate(value.split("\n")):
            if position:
                lines.append([])
            if not part:
                continue
            last = lines[-1]
            if last and last[-1][0] == name:
                last[-1] = (name, last[-1][1] + part)
            else:
                last.append((name, part))
    return lines + [[] for _ in range(text.count("\n") + 1 - len(lines))]


@lru_cache(maxsize=512)
def _class_of(kind: _TokenType) -> str:
    """The class of a kind of token: kinds are tuples of names from the root, the nearest known one counts."""
    return next((name for known, name in _CLASSES if tuple(kind[: len(known)]) == tuple(known)), "")
